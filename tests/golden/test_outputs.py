"""
The promise of docs/output.md: within a version, outputs only grow.

`outputs.txt` has a line for every key and every value of an enumeration. Lines are never removed:
`pytest tests/golden --update-golden` only adds lines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from outputs import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(__file__).parent / "outputs.txt"


def lines(schema: dict[str, Any]) -> list[str]:
    """List the promises of a schema: keys with their types, and values of enumerations."""
    return list(_lines(schema, schema, schema["$id"].rpartition("/")[2], ()))


def _lines(node: Any, root: Any, path: str, within: tuple[str, ...]) -> Iterator[str]:
    kinds: list[str] = []
    for branch in node.get("anyOf", [node]):
        reference = branch.get("$ref")
        if reference:
            branch = root["$defs"][reference.rpartition("/")[2]]
        types = branch.get("type", "anything")
        kinds += [types] if isinstance(types, str) else types
        yield from (f"{path} = {value}" for value in branch.get("enum", ()))
        if reference and reference in within:
            continue
        inside = (*within, reference) if reference else within
        for key, value in branch.get("properties", {}).items():
            absent = "" if key in branch["required"] else "?"
            yield from _lines(value, root, f"{path} {key}{absent}", inside)
        for key, name in (("items", "[]"), ("additionalProperties", "{}")):
            if isinstance(branch.get(key), dict):
                yield from _lines(branch[key], root, f"{path}{name}", inside)
    yield f"{path}: {'|'.join(sorted(kinds))}"


def test_outputs_only_grow(update_golden: bool) -> None:
    known = set(FILE.read_text(encoding="utf-8").splitlines())
    now = {
        line
        for path in SCHEMAS.iterdir()
        for line in lines(json.loads(path.read_text(encoding="utf-8")))
    }
    assert not known - now, "programs rely on these: keep them, or publish a v2 beside the v1"
    if update_golden:
        FILE.write_text("".join(f"{line}\n" for line in sorted(now)), encoding="utf-8")
        known = now
    assert now == known, "if these are to stay: pytest tests/golden --update-golden"


BEFORE = {
    "$id": "x/y.v1.json",
    "type": "object",
    "required": ["a", "state"],
    "properties": {
        "a": {"type": ["string", "null"]},
        "state": {"type": "string", "enum": ["on", "off"]},
        "more": {"type": "array", "items": {"type": "integer"}},
    },
}


@pytest.mark.parametrize(
    ("change", "grows"),
    [
        (lambda schema: schema["properties"].update(b={"type": "string"}), True),
        (lambda schema: schema["properties"]["state"]["enum"].append("dim"), True),
        (lambda schema: schema["properties"].pop("more"), False),
        (lambda schema: schema["properties"]["a"].update(type="string"), False),
        (lambda schema: schema["properties"]["more"]["items"].update(type="number"), False),
        (lambda schema: schema["properties"]["state"]["enum"].remove("on"), False),
        (lambda schema: schema["required"].remove("a"), False),
    ],
    ids=["key", "value", "no-key", "type", "item", "no-value", "optional"],
)
def test_changes_that_count_as_growing(change: Any, grows: bool) -> None:
    after = json.loads(json.dumps(BEFORE))
    change(after)
    lost = set(lines(BEFORE)) - set(lines(after))
    assert (not lost) == grows
    assert set(lines(after)) != set(lines(BEFORE))
