"""The pages about commands agree with the command line."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest
from option_tables import CURE, PAGES, ROOT, TABLE, known, refreshed

if TYPE_CHECKING:
    from pathlib import Path

HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s:]*)(?:#([\w-]+))?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = (re.sub(r"[^\w -]", "", heading.lower()) for heading in HEADING.findall(text))
    return {title.replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_of_options_are_fresh(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refreshed(text) == text, f"run: {CURE}"


@pytest.mark.parametrize("name", known())
def test_command_has_a_section_with_its_options(name: str) -> None:
    anchor = name.replace(" ", "-")
    pages = [page for page in PAGES if anchor in anchors(page)]
    assert len(pages) == 1, f"write a section `## {name}` in docs/commands/"
    tables = [match[2] for match in TABLE.finditer(pages[0].read_text(encoding="utf-8"))]
    assert name in tables, f"add `<!-- options: {name} -->` and `<!-- end -->`, then run: {CURE}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), path
        if anchor:
            assert anchor in anchors(linked), f"{path}#{anchor}"
