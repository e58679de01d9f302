"""
Whether commands keep to the schemas of their JSON output.

Which schema a command has is what the table of docs/output.md says. Tests call `check` wherever
they run a command, so that every output that any of them sees is looked at.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas" / "output"
PAGE = ROOT / "docs" / "output.md"
ROW = re.compile(r"^\| `([^`]+)` \| (?:\[`([^`]+)`\])?", re.MULTILINE)


@cache
def table() -> dict[tuple[str, ...], str]:
    """The schema of each command, as the page has it; none for what is another tool's form."""
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return {tuple(command.split()): name for command, name in rows}


def schema_of(arguments: Sequence[str]) -> str | None:
    """The schema of what a command prints; none for what is not JSON."""
    asked = ["-o" if each == "--output" else each for each in arguments]
    if ("-o", "json") not in pairwise(asked):
        return None
    rows = [row for row in table() if row[-1] == "json" and _is_call(row, asked)]
    assert rows, f"docs/output.md has no row for {' '.join(arguments)}"
    return table()[max(rows, key=len)]


def _is_call(row: tuple[str, ...], asked: Sequence[str]) -> bool:
    words = row[: row.index("-o")]
    verbs = [each for each in words if not each.startswith("-")]
    return list(asked[: len(verbs)]) == verbs and set(words) <= set(asked)


@cache
def validator(name: str) -> Any:
    """The schema *name* as something that validates, formats of times too."""
    folder, _, file = f"{name}.v1.json".rpartition("/")
    path = ROOT / "schemas" / (f"{folder}/{file}" if folder else f"paddlejob.{file}")
    schema = json.loads(path.read_text(encoding="utf-8"))
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def check(arguments: Sequence[str], out: str) -> int:
    """Compare what a command printed with its schema; how many values that were."""
    name = schema_of(arguments)
    if not name:
        return 0
    found = list(values(out))
    for each in found:
        conforms(name, each)
    return len(found)


def conforms(name: str, value: Any) -> None:
    """Refuse a value that is not as the schema *name* says."""
    faults = [f"{list(e.instance_path)}: {e.message}" for e in validator(name).iter_errors(value)]
    assert not faults, f"not as `paddlespec schema {name}` says: {faults}"


def values(text: str) -> Iterator[Any]:
    """The JSON values of a text: one, or with --watch and of logs several."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value
