"""
Parse and apply `--update` and `set`, which change one value by its path.

`path=value` sets, `path+=value` appends, `path-` removes, and `path=@file` reads a file (without the
line break of a single line). `:` separates parts like `.`; quote keys that contain dots; `[0]` and
`[home]` select an item of a list. The first `=` outside quotes and brackets ends the path. A path
that does not start with a top-level key is relative to `spec`.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, Literal, NamedTuple, NoReturn

from paddlespec.boundary import HINT, boundary, is_open_file
from paddlespec.diagnostic import (
    Diagnostic,
    InvalidSpec,
    Path,
    Span,
    dotted,
)
from paddlespec.spec import fields, layer, source, unknown_path
from paddlespec.spec.document import (
    Document,
    Mark,
    Origin,
    Place,
)
from paddlespec.spec.scalar import UnusableNumber, plain

_PART = re.compile(
    r"""(?:^|[.:])(?:"(?P<quoted>[^"]*)"|(?P<word>[^.:\[\]="]+))|\[(?P<item>[^\]]+)\]"""
)
_QUOTED = re.compile(r'"[^"\\]*"')
_INDEX = re.compile("[0-9]{1,9}")
_MAX_TEXT = source.MAX_BYTES


class Update(NamedTuple):
    """One parsed override; `text` is the value of the option."""

    text: str
    path: Path
    action: Literal["set", "append", "remove"]
    value: Any = None
    option: str = "--update"

    @property
    def span(self) -> Span:
        return Span(f"{self.option} {self.text}" if self.option else self.text)


def parse(text: str, option: str = "--update", allowed: tuple[str, ...] = ()) -> Update:
    """
    Parse one override; the schema determines the type of the value.

    Links must not lead from a file to a place outside its repository, except to *allowed* folders.
    Raises `InvalidSpec` at the option, with the most similar path as a hint if the path is unknown.
    """
    blank = Update(text.encode("utf-8", "replace").decode(), (), "set", option=option)
    if blank.text != text or "\0" in text:
        _refuse(blank, "not valid UTF-8 text")
    left, splits, right = split(text)
    if not splits:
        if not left.endswith("-"):
            _refuse(blank, "expected path=value, path+=value or path-")
        return blank._replace(path=_path(left[:-1], blank), action="remove")
    append = left.endswith("+")
    path = _path(left.removesuffix("+"), blank)
    update = blank._replace(path=path, action="append" if append else "set")
    node = _field(path, update)
    if append:
        node = fields.member(node, 0) or {}
    return update._replace(value=_value(right, node, update, allowed))


def apply(document: Document, update: Update) -> Document:
    """Set, append or remove one value of *document*; an item of a list must exist."""
    data, place = _apply(document.data, document.place, update, 0)
    return Document(data, place)


def split(text: str) -> tuple[str, bool, str]:
    """Split at the first `=` outside quotes and brackets; the flag says whether there is one."""
    depth, quoted = 0, False
    for index, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif not quoted:
            depth += (char == "[") - (char == "]")
            if char == "=" and depth == 0:
                return text[:index], True, text[index + 1 :]
    return text, False, ""


def parts_of(text: str, update: Update) -> Path:
    """Parse a path; errors are reported for *update*."""
    parts: list[str | int] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if not match or (position == 0 and text[0] in ".:["):
            _refuse(update, f'invalid path "{text}"')
        position = match.end()
        item = match["item"]
        if item is None:
            parts.append(match["word"] if match["quoted"] is None else match["quoted"])
        else:
            parts.append(int(item) if _INDEX.fullmatch(item) else item.strip("\"'"))
    if not parts:
        _refuse(update, "the path is empty")
    return tuple(parts)


def _path(text: str, update: Update) -> Path:
    parts = parts_of(text, update)
    if parts[0] == "profiles" and update.option == "--update":
        hint = "select it with --profile, and override the field of the spec"
        _refuse(update, "fields of a profile cannot be overridden", hint=hint)
    top = parts[0] in fields.root()["properties"]
    return parts if top else ("spec", *parts)


def _field(path: Path, update: Update) -> fields.Node:
    node = fields.find(path)
    if node is None:
        shown = dotted(path).removeprefix("spec.")
        _refuse(update, f'unknown path "{shown}"', "unknown-path", unknown_path.hint(path))
    return node


def _value(text: str, node: fields.Node, update: Update, allowed: tuple[str, ...]) -> Any:
    is_file = text.startswith("@")
    if is_file:
        text = _content(text[1:], update, allowed)
    elif text.startswith("\\@"):
        text = text[1:]
    may_be_number = {"string", "number"} <= fields.types(node)
    if may_be_number and not is_file and _QUOTED.fullmatch(text):
        return text[1:-1]
    if update.path[:2] == ("spec", "parameters"):
        return _parameter(text)
    structured = text[:1] in ("{", "[") and fields.types(node) & {"object", "array"}
    if fields.holds_text(node) and not structured:
        if text == "null" and not is_file:
            field = dotted(update.path).removeprefix("spec.")
            hint = f"use {field}- to remove it; {field}=@FILE sets the text null"
            _refuse(update, f"{field} is text, which cannot be null", hint=hint)
        return text
    reading = source.read(text, str(update.span))
    if reading.diagnostics:
        _refuse(update, f"the value is not valid YAML: {reading.diagnostics[0].message}", "syntax")
    if len(reading.documents) != 1:
        _refuse(update, "the value contains several YAML documents", "syntax")
    if not text.strip():
        hint = f"use {dotted(update.path)}- to remove the field"
        _refuse(update, "the value is empty", hint=hint)
    return reading.documents[0].data


def _content(name: str, update: Update, allowed: tuple[str, ...]) -> str:
    limit = boundary(os.path.dirname(name), allowed)
    if "\0" not in name and not is_open_file(name) and not limit.holds(name):
        _refuse(update, f"{name} is a link that leads out of {limit}", "outside", HINT)
    try:
        with open(name, encoding="utf-8", newline="") as file:
            text = file.read(_MAX_TEXT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        _refuse(update, f"cannot read {name}: {reason}", "file")
    if len(text) > _MAX_TEXT or "\0" in text:
        reason = "not text" if "\0" in text else f"larger than {_MAX_TEXT >> 20} MiB"
        _refuse(update, f"cannot read {name}: {reason}", "file")
    one_line = text.find("\n") == len(text) - 1
    return text.removesuffix("\n").removesuffix("\r") if one_line else text


def _parameter(text: str) -> Any:
    """Type a parameter: a number or boolean only if that keeps its spelling, so `1.10` is text."""
    try:
        value = plain(text)
    except UnusableNumber:
        return text
    return value if json.dumps(value) == text else text


def _apply(data: Any, place: Place, update: Update, depth: int) -> tuple[Any, Place]:
    path = update.path
    if depth == len(path):
        return _final(data, place, update)
    part = path[depth]
    if isinstance(data, list) and isinstance(place.children, list):
        index = _index(data, part, update, depth)
        items, children = list(data), list(place.children)
        if depth + 1 == len(path) and update.action == "remove":
            del items[index], children[index]
        else:
            items[index], children[index] = _apply(data[index], children[index], update, depth + 1)
        return items, Place(place.origin, place.start, None, children, None, place.whole)
    is_list = fields.types(fields.find(path[:depth]) or {}) == {"array", "null"}
    if is_list and data is None:
        hint = f"append one: {dotted(path[:depth]).removeprefix('spec.')}+=ITEM"
        _refuse(update, f"{dotted(path[:depth])} has no items", "unknown-path", hint)
    if isinstance(part, int) or is_list:
        _refuse(update, f"{dotted(path[:depth])} is not a list", "unknown-path")
    key = str(part)
    if isinstance(data, dict) and update.action != "remove" and update.option:
        data, place = layer.of_one_kind(Document(data, place), key, path[:depth])
    members = dict(data) if isinstance(data, dict) else {}
    places = dict(place.children) if isinstance(place.children, dict) else {}
    keys = dict(place.keys or {})
    if depth + 1 == len(path) and update.action == "remove":
        if key not in members:
            # An unknown key may be removed if it is set.
            if fields.find(path) is None:
                _field(path, update)
            _refuse(update, f"{dotted(path)} is not set", "unknown-path")
        members[key], places[key] = None, _place(update, None)
    else:
        below = places.get(key) or _place(update, None)
        members[key], places[key] = _apply(members.get(key), below, update, depth + 1)
    if key not in keys or places[key].origin == _origin(update):
        keys[key] = ((0, 0), (0, 1))
    origin = place.origin if isinstance(data, dict) else _origin(update)
    return members, Place(origin, place.start, None, places, keys, place.whole)


def _final(data: Any, place: Place, update: Update) -> tuple[Any, Place]:
    if update.action == "append":
        if data is not None and not isinstance(data, list):
            _refuse(update, f"{dotted(update.path)} is not a list", "type")
        children = place.children if isinstance(place.children, list) else []
        places = [*children, _place(update, update.value)]
        return [*(data or []), update.value], Place(place.origin, place.start, None, places)
    return update.value, _place(update, update.value)


def _index(items: list[Any], part: str | int, update: Update, depth: int) -> int:
    """Find the item of a list by index or by its `name`."""
    if isinstance(part, int):
        if part < len(items):
            return part
        message = f"index [{part}] is out of range: the list has {len(items)} items"
        _refuse(update, message, "unknown-path")
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if part in names:
        return names.index(part)
    where = dotted(update.path[:depth])
    known = ", ".join(str(name) for name in names if name)
    hint = f"use one of {known}" if known else None
    _refuse(update, f'no item of {where} is named "{part}"', "unknown-path", hint)


def _origin(update: Update) -> Origin:
    return Origin(f"{update.option} {update.text}", f"{update.option} {update.text}", update.text)


def _place(update: Update, value: Any) -> Place:
    start: Mark = (0, 0)
    origin = _origin(update)
    children: dict[str, Place] | list[Place] | None = None
    keys = None
    if isinstance(value, dict):
        children = {key: _place(update, member) for key, member in value.items()}
        keys = dict.fromkeys(value, ((0, 0), (0, 1)))
    elif isinstance(value, list):
        children = [_place(update, item) for item in value]
    return Place(origin, start, (0, 1), children, keys, whole=True)


def _refuse(
    update: Update, message: str, code: str = "update", hint: str | None = None
) -> NoReturn:
    raise InvalidSpec([Diagnostic(code, message, update.span, update.path, hint)])
