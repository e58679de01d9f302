"""Print one object of a comparison: what happens to it, and every path that changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.change.diff import (
    MISSING,
    Effect,
    Operation,
    differences,
    effect,
)
from paddlespec.diagnostic import dotted
from paddlespec.report.width import shortened, visible
from paddlespec.spec.emit import dump

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.change.diff import Row
    from paddlespec.diagnostic import Path
    from paddlespec.render.manifest import Manifest
    from paddlespec.report.hidden import Hidden

SYMBOLS = {
    Operation.keep: "?",  # shown only when it could not be compared, or is in conflict
    Operation.create: "+",
    Operation.change: "~",
    Operation.replace: "-/+",
    Operation.delete: "-",
}
_COMMENTS = {
    Effect.in_place: "",
    Effect.suspended: "   # needs suspend",
    Effect.replacement: "   # forces replacement",
}
_EFFECTS = list(Effect)
_SHORT, _LONGEST, _AROUND = 60, 400, 60


class Line(NamedTuple):
    """A line with its symbol; the lines of an object are deeper than its head."""

    symbol: str
    depth: int
    text: str


class Field(NamedTuple):
    """One path that changes, with secrets hidden; a list of unnamed items changes as a whole."""

    path: str
    before: Any
    after: Any
    effect: Effect

    @property
    def symbol(self) -> str:
        return "+" if self.before is MISSING else "-" if self.after is MISSING else "~"


# An object that is created again has another UID, which says nothing to people.
_IDENTITY = "metadata.uid"


def lines(row: Row, hidden: Hidden) -> Iterator[Line]:
    """Yield the lines of an object that changes, is in conflict, or could not be compared."""
    operation = row.change.operation
    if operation is Operation.keep and not row.problem and not row.conflict:
        return
    head = f"{row.change.identity}: {operation.value}"
    if row.problem:
        problem = visible(hidden.text(row.problem))
        head = f"{row.change.identity}: could not be compared: {problem}"
    elif row.conflict:
        head = f"{row.change.identity}: in conflict: {visible(hidden.text(row.conflict))}"
    changed = fields(row, hidden)
    listed = [field for field in changed if field.path != _IDENTITY]
    if len(listed) < len(changed) and not row.problem and not row.conflict:
        head += ", with its run" if listed else ", with its run; its content is unchanged"
    yield Line(SYMBOLS[operation], 0, head)
    if operation is Operation.create and row.change.after is not None:
        for text in dump(hidden.manifest(row.change.after)).splitlines():
            yield Line("+", 1, _seen(text))
    for field in listed:
        yield from _field(field)


def fields(row: Row, hidden: Hidden) -> list[Field]:
    """List the fields that differ, if the object exists before and after."""
    before, after = row.change.before, row.change.after
    if before is None or after is None or row.change.operation is Operation.keep:
        return []
    old, new = hidden.manifest(before), hidden.manifest(after)
    changed: dict[Path, Field] = {}
    for path, *values in differences(old, new):
        whole = _whole(path)
        what = effect(after["kind"], path)
        if whole != path:
            values = [_at(old, whole), _at(new, whole)]
        if whole in changed:
            what = max(what, changed[whole].effect, key=_EFFECTS.index)
        changed[whole] = Field(written(whole, old, new), values[0], values[1], what)
    return list(changed.values())


def written(path: Path, before: Manifest, after: Manifest) -> str:
    """Format *path* with list items in brackets: `containers[paddle].image`."""
    text = ""
    sides: list[Any] = [after, before]
    for part in path:
        is_item = any(isinstance(side, list) for side in sides)
        text += f"[{part}]" if is_item else f".{dotted((part,))}"
        sides = [_step(side, part) for side in sides]
    return visible(text.removeprefix("."))


def _whole(path: Path) -> Path:
    """Cut *path* at the outermost list of unnamed items."""
    return next((path[:at] for at, part in enumerate(path) if isinstance(part, int)), path)


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = _step(value, part)
    return value


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(part, MISSING)
    if isinstance(value, list):
        return next(
            (item for item in value if isinstance(item, dict) and item.get("name") == part), MISSING
        )
    return MISSING


def _field(field: Field) -> Iterator[Line]:
    comment = _COMMENTS[field.effect]
    short = [_inline(value) for value in (field.before, field.after)]
    if None not in short:
        values = " -> ".join(text for text in short if text)
        yield Line(field.symbol, 2, f"{field.path}: {values}{comment}")
        return
    yield Line(field.symbol, 2, f"{field.path}:{comment}")
    commas = any(isinstance(value, str) and value.count(",") > 1 for value in field[1:3])
    old, new = (_lines(value, commas=commas) for value in (field.before, field.after))
    parts = list(_unified(old, new))
    if not parts:  # the values differ, but not when split into lines
        sides = (("-", field.before), ("+", field.after))
        parts = [(symbol, _seen(json.dumps(value, ensure_ascii=False))) for symbol, value in sides]
    yield from (Line(symbol, 4, text) for symbol, text in parts)


def _inline(value: Any) -> str | None:
    """Print a value on one line; empty if it is missing, None if it needs more lines."""
    if value is MISSING:
        return ""
    if isinstance(value, (dict, list)) and value:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return visible(text) if len(text) <= _SHORT else None


def _lines(value: Any, *, commas: bool) -> list[str]:
    """Split a value into lines: a string at line breaks, or else at commas."""
    if value is MISSING:
        return []
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [line for item in value for line in item.split("\n")]
    if not isinstance(value, str):
        return dump(value).splitlines()
    if commas and "\n" not in value:
        return value.replace(",", ",\n").split("\n")
    return value.split("\n")


def _unified(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines that differ, with one line of context."""
    from difflib import unified_diff

    if len(before) == len(after) == 1:
        before, after = _around(before[0], after[0])
    for index, line in enumerate(unified_diff(before, after, n=1, lineterm="")):
        if line.startswith("@@"):
            if not line.startswith(("@@ -1 ", "@@ -1,", "@@ -0,")):
                yield " ", "…"
        elif index > 1:
            yield line[0], _seen(line[1:])


def _around(before: str, after: str) -> tuple[list[str], list[str]]:
    """Shorten two long lines to where they differ."""
    from os.path import commonprefix

    start = max(0, len(commonprefix((before, after))) - _AROUND)  # noqa: RUF071 - of text
    if max(len(before), len(after)) <= _LONGEST or not start:
        return [before], [after]
    return [f"…{before[start:]}"], [f"…{after[start:]}"]


def _seen(text: str) -> str:
    return shortened(visible(text), _LONGEST)
