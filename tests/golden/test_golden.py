"""
Findings, compared with what they should be.

`ok/*.yaml` are silent; `err/<code>.yaml` gives `err/<code>.out`; the examples of
`docs/diagnostics.md` give what the page shows. `pytest tests/golden --update-golden` writes what
was found, to be read before it is committed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from golden.codes import emitted
from golden.findings import find, of_example, options, told

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "diagnostics.md"
OK = sorted((HERE / "ok").glob("*.yaml"))
ERR = sorted((HERE / "err").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "examples").glob("*/paddlejob.yaml"))
# Nothing in the schemas of today leads there; and findings that are of no spec.
WITHOUT_EXAMPLE = {"shape"}
NOT_OF_SPECS = {"cli", "edit", "cluster", "backend", "explain", "scaffold"}


class Section(NamedTuple):
    code: str
    example: str | None
    shown: str | None


def sections(page: str) -> list[Section]:
    found = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```", part, re.MULTILINE | re.DOTALL))
        found.append(Section(part.split("\n")[0], blocks.get("yaml"), blocks.get("text")))
    return found


TEXT = PAGE.read_text(encoding="utf-8")
BASE = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[0]
SECTIONS = sections(TEXT)
SHOWN = [each for each in SECTIONS if each.example]


def name(value: object) -> str:
    return value.stem if isinstance(value, Path) else str(getattr(value, "code", value))


@pytest.mark.parametrize("file", OK, ids=name)
def test_a_good_spec_is_met_with_silence(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    assert told(find(file.name, options(file.read_text(encoding="utf-8")))) == ""


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
@pytest.mark.parametrize("profile", [None, "smoke"])
def test_the_examples_are_met_with_silence(
    file: Path, profile: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    found = find("paddlejob.yaml", options(f"# --profile {profile}" if profile else ""))
    assert told(found) == ""


@pytest.mark.parametrize("file", ERR, ids=name)
def test_every_mistake_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    monkeypatch.chdir(file.parent)
    found = find(file.name, options(file.read_text(encoding="utf-8", errors="replace")))
    expected = file.with_suffix(".out")
    if update_golden:
        expected.write_text(told(found), encoding="utf-8")
    assert told(found) == expected.read_text(encoding="utf-8")
    assert {each.code for each in found} == {file.stem}


@pytest.mark.parametrize("section", SHOWN, ids=name)
def test_the_page_shows_what_is_printed(
    section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    assert section.example is not None
    found = of_example(BASE, section.example, tmp_path)
    printed = "".join(f"{each}\n" for each in found)
    if update_golden:
        text = PAGE.read_text(encoding="utf-8")
        before, heading, after = text.partition(f"\n## {section.code}\n")
        block = re.compile(r"^```text\n.*?^```", re.MULTILINE | re.DOTALL)
        after = block.sub(lambda _: f"```text\n{printed}```", after, count=1)
        PAGE.write_text(before + heading + after, encoding="utf-8")
    else:
        assert printed == section.shown
    assert [each.code for each in found] == [section.code]


def test_the_base_of_the_page_is_a_good_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(of_example(BASE, "spec: {}\n", tmp_path)) == ""


def test_the_page_has_a_heading_for_every_code_and_no_other() -> None:
    headings = [each.code for each in SECTIONS]
    assert sorted(headings) == sorted(emitted())


def test_every_code_that_a_spec_can_get_is_shown() -> None:
    of_specs = {code for code, parts in emitted().items() if parts - NOT_OF_SPECS}
    assert {each.code for each in SHOWN} == of_specs - WITHOUT_EXAMPLE


def test_every_code_that_a_file_alone_can_get_has_a_golden_file() -> None:
    assert {each.stem for each in ERR} == {each.code for each in SHOWN}
