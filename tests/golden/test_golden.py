"""
Compare diagnostics with golden files.

`ok/*.yaml` have none; those of `err/<code>.yaml` are in `err/<code>.out`, and those of the examples in
`docs/diagnostics.md` are on that page. `pytest tests/golden --update-golden` renews all of them; read
the difference before you commit it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from .codes import codes_of, emitted
from .findings import find, formatted, of_example, options

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "diagnostics.md"
UPDATE = "run: .venv/bin/pytest tests/golden --update-golden, then read the diff as prose"
OK = sorted((HERE / "ok").glob("*.yaml"))
ERR = sorted((HERE / "err").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "examples").glob("*/paddlejob.yaml"))
# The current schemas never cause this code. The modules below report errors outside of specs.
WITHOUT_EXAMPLE = {"foreign-file", "shape"}
NOT_OF_SPECS = ("cli/", "spec/edit", "backends/", "runs/", "spec/explain", "spec/scaffold")


class Section(NamedTuple):
    code: str
    example: str | None
    shown: str | None


def sections(page: str) -> list[Section]:
    parsed = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```", part, re.MULTILINE | re.DOTALL))
        parsed.append(Section(part.split("\n")[0], blocks.get("yaml"), blocks.get("text")))
    return parsed


TEXT = PAGE.read_text(encoding="utf-8")
BASE = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[0]
SECTIONS = sections(TEXT)
SHOWN = [entry for entry in SECTIONS if entry.example]


def but_for_memory(diagnostics: list[Diagnostic], code: str) -> list[Diagnostic]:
    """Ignore missing memory in the cases of other codes, which are shorter without resources."""
    return [one for one in diagnostics if one.code != "no-memory" or code == "no-memory"]


def name(value: object) -> str:
    return value.stem if isinstance(value, Path) else str(getattr(value, "code", value))


@pytest.mark.parametrize("file", OK, ids=name)
def test_a_valid_spec_has_no_diagnostics(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    assert formatted(find(file.name, options(file.read_text(encoding="utf-8")))) == ""


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
@pytest.mark.parametrize("profile", [None, "smoke"])
def test_the_examples_have_no_diagnostics(
    file: Path, profile: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    diagnostics = find("paddlejob.yaml", options(f"# --profile {profile}" if profile else ""))
    assert formatted(diagnostics) == ""


@pytest.mark.parametrize("file", ERR, ids=name)
def test_every_mistake_is_reported(
    file: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    if file.stem == "outside" and not (ROOT / ".git").exists():
        pytest.skip("an unpacked source archive is no repository")
    monkeypatch.chdir(file.parent)
    diagnostics = find(file.name, options(file.read_text(encoding="utf-8", errors="replace")))
    diagnostics = but_for_memory(diagnostics, file.stem)
    expected = file.with_suffix(".out")
    if update_golden:
        expected.write_text(formatted(diagnostics), encoding="utf-8")
    if not expected.exists():
        pytest.fail(f"write {expected.name}: {UPDATE}")
    assert formatted(diagnostics) == expected.read_text(encoding="utf-8"), UPDATE
    assert {diagnostic.code for diagnostic in diagnostics} == {file.stem}


@pytest.mark.parametrize("section", SHOWN, ids=name)
def test_the_page_shows_what_is_printed(
    section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    assert section.example is not None
    diagnostics = but_for_memory(of_example(BASE, section.example, tmp_path), section.code)
    printed = "".join(f"{diagnostic}\n" for diagnostic in diagnostics)
    if update_golden:
        text = PAGE.read_text(encoding="utf-8")
        before, heading, after = text.partition(f"\n## {section.code}\n")
        block = re.compile(r"^```text\n.*?^```", re.MULTILINE | re.DOTALL)
        after = block.sub(lambda _: f"```text\n{printed}```", after, count=1)
        PAGE.write_text(before + heading + after, encoding="utf-8")
    else:
        assert printed == section.shown, UPDATE
    assert [diagnostic.code for diagnostic in diagnostics] == [section.code]


def test_the_base_of_the_page_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert formatted(of_example(BASE, "spec: {}\n", tmp_path)) == ""


def test_codes_may_have_digits() -> None:
    call = ast.parse('facts.warning("python-2", "a message", path)', mode="eval").body
    assert codes_of(call, "checks/command") == ["python-2"]


def test_the_page_has_a_heading_for_every_code() -> None:
    headings = [section.code for section in SECTIONS]
    missing = sorted(set(emitted()) - set(headings))
    assert missing == [], f"write a section `## CODE` with an example in {PAGE.name}"
    assert sorted(headings) == sorted(emitted()), (
        f"remove the sections of other codes from {PAGE.name}"
    )


def test_every_code_of_a_spec_has_an_example() -> None:
    of_specs = {
        code
        for code, parts in emitted().items()
        if not all(part.startswith(NOT_OF_SPECS) for part in parts)
    }
    shown = {section.code for section in SHOWN}
    missing = sorted(of_specs - WITHOUT_EXAMPLE - shown)
    assert missing == [], f"write an example below `## CODE` in {PAGE.name}, then {UPDATE}"
    assert shown == of_specs - WITHOUT_EXAMPLE


def test_every_code_with_an_example_has_a_golden_file() -> None:
    missing = sorted({section.code for section in SHOWN} - {file.stem for file in ERR})
    assert missing == [], (
        f"write tests/golden/err/CODE.yaml, a spec with that mistake, then {UPDATE}"
    )
    assert {file.stem for file in ERR} == {section.code for section in SHOWN}
