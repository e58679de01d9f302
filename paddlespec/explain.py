"""
What one field means, from the schema: for people and for programs.

The effective schema is shown, because what it requires and what it takes is what a job needs in
the end; that a layer may be silent or use an expression is the same for every field.
"""

from __future__ import annotations

import re
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import fields
from paddlespec.diagnostic import Diagnostic, InvalidSpec, Path, Span, dotted
from paddlespec.emit import dump
from paddlespec.gate import EFFECTIVE, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.shapes import findings as shapes

Node = dict[str, Any]
WIDTH = 80
_PART = re.compile(r'"([^"]*)"|([^.:"]+)')
_ITEM = re.compile(r"\[[^\]]*\]")
_ANY_NAME = "NAME"
_WORDS = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}
_SEVERAL = {"integer": "integers", "number": "numbers", "list": "lists", "mapping": "mappings"}


class Field(NamedTuple):
    """One field: where it stands, what the schema says of it, and whether it has to be given."""

    path: Path
    node: Node
    required: bool = False

    @property
    def name(self) -> str:
        """The last word of its path."""
        return str(self.path[-1]) if self.path else "PaddleJob"

    @property
    def description(self) -> str:
        """What it is for."""
        return str(self.node.get("description", ""))


def path_of(text: str) -> Path:
    """
    The path that people mean by *text*; `spec.` may be left out, and which item of a list it is.

    Raises `InvalidSpec` with the nearest known field when there is none.
    """
    parts = tuple(quoted or word for quoted, word in _PART.findall(_ITEM.sub("", text)))
    if parts and parts[0] not in _root()["properties"]:
        parts = ("spec", *parts)
    if not _leads_somewhere(parts):
        close = fields.suggestion(parts)
        hint = f'did you mean "{close}"?' if close else "`paddlespec explain --recursive` lists all"
        raise InvalidSpec([Diagnostic("unknown-path", "no such field", Span(text), parts, hint)])
    return parts


def text(path: Path) -> str:
    """The page of one field, for a terminal of 80 columns."""
    field = _field(path)
    required = "  required" if field.required else ""
    head = f"{dotted(path) or field.name}  ({_type(field.node)}){required}"
    lines = _wrapped(head, "", "  ")
    lines += ["", *_wrapped(field.description, "")]
    if expected := _expected(field.node):
        lines += ["", *_wrapped(f"Expected: {expected}", "", "  ")]
    if (default := field.node.get("default")) not in (None, {}, []):
        lines += ["", f"Default: {_short(default)}"]
    if values := _values(field.node):
        lines += ["", "Values:", *_table(values)]
    below = list(_below(field))
    if path and (examples := field.node.get("examples")):
        shown = [dump({field.name: each}) for each in examples]
        lines += ["", "Examples:" if len(shown) > 1 else "Example:"]
        lines += [f"  {line}" for each in shown for line in each.splitlines()]
    if below:
        title = "Fields of each:" if _named(field.node) is not None else "Fields:"
        lines += ["", title, *_table([_row(each) for each in below])]
    return "\n".join(lines) + "\n"


def tree(path: Path) -> str:
    """The names of all fields from *path* down."""
    return "".join(f"{line}\n" for line in _branch(_field(path), 0))


def as_data(path: Path, *, recursive: bool = False) -> shapes.Field:
    """One field and those below it, for programs."""
    return _data(_field(path), deep=recursive)


def _root() -> Node:
    effective = schema(EFFECTIVE)
    profiles = fields.root()["properties"]["profiles"]
    return {**effective, "properties": {**effective["properties"], "profiles": profiles}}


def _field(path: Path) -> Field:
    node, required = _root(), False
    for index, part in enumerate(path):
        parent, node = node, _member(node, part) or {}
        required = part in _required(parent) and path[0] != "profiles" and index + 1 == len(path)
    return Field(path, node, required)


def _leads_somewhere(path: Path) -> bool:
    node: Node | None = _root()
    for part in path:
        node = _member(node, part) if node else None
        if node is None:
            return False
    return True


def _resolve(node: Node) -> Node:
    """*node* with its reference followed; what it says itself wins."""
    if "$ref" in node:
        definition = schema(EFFECTIVE)["$defs"][node["$ref"].rpartition("/")[2]]
        node = {**definition, **{key: each for key, each in node.items() if key != "$ref"}}
    return node


def _alternatives(node: Node) -> Iterator[Node]:
    """What a value may be, without nothing."""
    for each in map(_resolve, node.get("anyOf", [node])):
        if each.get("type") != "null":
            yield each


def _member(node: Node, part: str | int) -> Node | None:
    """The field called *part*; inside of a list, of its items, which *part* may also choose."""
    for each in _alternatives(node):
        if part in each.get("properties", {}):
            return _resolve(each["properties"][part])
    for each in _alternatives(node):
        if isinstance(each.get("additionalProperties"), dict):
            return _resolve(each["additionalProperties"])
        if isinstance(each.get("items"), dict):
            return _member(_resolve(each["items"]), part)
    return None


def _named(node: Node) -> Node | None:
    """The values of a mapping whose names are the user's: an env, the labels."""
    for each in _alternatives(node):
        if isinstance(each.get("additionalProperties"), dict):
            return _resolve(each["additionalProperties"])
    return None


def _below(field: Field) -> Iterator[Field]:
    """The fields inside of a mapping, or of the items or values of a collection."""
    for each in _alternatives(field.node):
        for name, node in each.get("properties", {}).items():
            required = name in _required(field.node) and field.path[:1] != ("profiles",)
            yield Field((*field.path, name), _resolve(node), required)
        if isinstance(each.get("items"), dict):
            yield from _below(Field(field.path, _resolve(each["items"])))
    if (value := _named(field.node)) is not None:
        yield from _below(Field((*field.path, _ANY_NAME), value))


def _required(node: Node) -> set[str]:
    return {name for each in _alternatives(node) for name in each.get("required", [])}


def _kinds(node: Node) -> list[str]:
    """The JSON types of a value, without null."""
    found: list[str] = []
    for each in _alternatives(node):
        types = each.get("type", [])
        found += types if isinstance(types, list) else [types]
    return [each for each in dict.fromkeys(found) if each != "null"]


def _type(node: Node) -> str:
    """The type in words: `list of text`, `number or text`."""
    words = []
    for kind in _kinds(node):
        word = _WORDS[kind]
        for each in _alternatives(node):
            if kind == "array" and isinstance(each.get("items"), dict):
                word = f"list of {_several(_resolve(each['items']))}"
            if kind == "object" and (value := _named(each)) is not None:
                word = f"mapping of names to {_several(value)}"
        words.append(word)
    return _either(words) or "anything"


def _several(node: Node) -> str:
    words = [_WORDS[each] for each in _kinds(node)]
    return _either([_SEVERAL.get(each, each) for each in words]) or "anything"


def _short_type(node: Node) -> str:
    return _either([_WORDS[each] for each in _kinds(node)]) or "anything"


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _expected(node: Node) -> str:
    for each in _alternatives(node):
        if "x-expected" in each:
            return str(each["x-expected"])
        if "minimum" in each and "maximum" in each:
            return f"{each['minimum']} to {each['maximum']}"
    return ""


def _values(node: Node) -> list[tuple[str, str]]:
    choices = [each for each in node.get("enum", []) if each is not None]
    meanings = node.get("enumDescriptions", [""] * len(choices))
    return [(str(each), meaning) for each, meaning in zip(choices, meanings)]


def _row(field: Field) -> tuple[str, str, str]:
    required = "Required. " if field.required else ""
    return field.name, _short_type(field.node), required + field.description


def _table(rows: list[Any]) -> list[str]:
    """Rows in columns; the last one is wrapped."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        first = "  " + "".join(cell.ljust(width + 2) for cell, width in zip(row, widths))
        lines += _wrapped(row[-1], first, " " * len(first)) or [first.rstrip()]
    return lines


def _wrapped(text: str, first: str, rest: str = "") -> list[str]:
    wrapper = TextWrapper(WIDTH, first, rest, break_long_words=False, break_on_hyphens=False)
    return [line.rstrip() for line in wrapper.wrap(text)]


def _short(value: Any) -> str:
    return dump(value).rstrip("\n")


def _branch(field: Field, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{field.name}  <{_short_type(field.node)}>"
    # Profiles repeat the whole spec.
    if field.path == ("profiles",) and depth:
        return
    value = _named(field.node)
    below = list(_below(field))
    if value is not None and below:
        below = [Field((*field.path, _ANY_NAME), value)]
    for each in below:
        yield from _branch(each, depth + 1)


def _data(field: Field, *, deep: bool, inner: bool = False) -> shapes.Field:
    node = field.node
    found: shapes.Field = {
        "path": dotted(field.path),
        "types": _kinds(node),
        "required": field.required,
        "description": field.description,
        "examples": node.get("examples", []),
    }
    if "default" in node:
        found["default"] = node["default"]
    if expected := _expected(node):
        found["expected"] = expected
    if values := _values(node):
        found["values"] = [{"value": value, "description": meaning} for value, meaning in values]
    if deep or not inner:
        repeats = inner and field.path == ("profiles",)
        below = [] if repeats else _below(field)
        found["fields"] = [_data(each, deep=deep, inner=True) for each in below]
    return found
