"""
Describe spec fields from the schema, for people and for programs.

The effective schema is used, because it shows the values and required fields of a complete job;
expressions and optional fields of single layers apply to all fields alike.
"""

from __future__ import annotations

import re
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import (
    Diagnostic,
    InvalidSpec,
    Path,
    Span,
    dotted,
)
from paddlespec.spec import fields
from paddlespec.spec.emit import dump
from paddlespec.spec.gate import EFFECTIVE, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.shapes import findings as shapes

Node = dict[str, Any]
WIDTH = 80
_PART = re.compile(r'"([^"]*)"|([^.:"]+)')
_ITEM = re.compile(r"\[[^\]]*\]")
_ANY_NAME = "NAME"
_TYPE_NAMES = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "mapping",
}


class Field(NamedTuple):
    """One field: its path, its schema, and whether it is required."""

    path: Path
    node: Node
    required: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self.path[-1]) if self.path else "PaddleJob"

    @property
    def description(self) -> str:
        """The description of the field."""
        return str(self.node.get("description", ""))


def path_of(text: str) -> Path:
    """
    Parse the path of a field; `spec.` and the index of a list are optional.

    Raises `InvalidSpec` with the most similar field if there is no such field.
    """
    parts = tuple(quoted or word for quoted, word in _PART.findall(_ITEM.sub("", text)))
    if parts and parts[0] not in _root()["properties"]:
        parts = ("spec", *parts)
    if not _exists(parts):
        similar = fields.suggestion(parts)
        list_all = "list all fields with `paddlespec explain --recursive`"
        hint = f'did you mean "{similar}"?' if similar else list_all
        raise InvalidSpec([Diagnostic("unknown-path", "unknown field", Span(text), parts, hint)])
    return parts


def text(path: Path) -> str:
    """Format the page of one field for 80 columns."""
    field = _field(path)
    required = "  required" if field.required else ""
    head = f"{dotted(path) or field.name}  ({_type(field.node)}){required}"
    lines = _wrapped(head, "", "  ")
    if description := _description(field):
        lines += ["", *_wrapped(description, "")]
    if expected := _expected(field.node):
        lines += ["", *_wrapped(f"Format: {expected}", "", "  ")]
    if (default := field.node.get("default")) not in (None, {}, []):
        lines += ["", f"Default: {_short(default)}"]
    if values := _values(field.node):
        lines += ["", "Values:", *_table(values)]
    children = list(_children(field))
    if path and (examples := field.node.get("examples")):
        shown = [dump({field.name: example}) for example in examples]
        lines += ["", "Examples:" if len(shown) > 1 else "Example:"]
        lines += [f"  {line}" for example in shown for line in example.splitlines()]
    if children:
        title = "Fields of every entry:" if _named(field.node) is not None else "Fields:"
        lines += ["", title, *_table([_row(child) for child in children])]
    return "\n".join(lines) + "\n"


def _description(field: Field) -> str:
    """Return the description of a field; an entry of a mapping with free names has that of the mapping."""
    path, described = field.path, field
    while path and not described.description:
        path = path[:-1]
        described = _field(path)
    return described.description


def tree(path: Path) -> str:
    """Format the names of all fields below *path* as a tree."""
    return "".join(f"{line}\n" for line in _branch(_field(path), 0))


def as_data(path: Path, *, recursive: bool = False) -> shapes.Field:
    """Return one field and its children as data, for programs."""
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


def _exists(path: Path) -> bool:
    node: Node | None = _root()
    for part in path:
        node = _member(node, part) if node else None
        if node is None:
            return False
    return True


def _resolve(node: Node) -> Node:
    """Return *node* with its reference resolved; its own keywords take precedence."""
    if "$ref" in node:
        definition = schema(EFFECTIVE)["$defs"][node["$ref"].rpartition("/")[2]]
        node = {**definition, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def _branches(node: Node) -> Iterator[Node]:
    """Yield the branches of a union except null, or the node itself."""
    for branch in map(_resolve, node.get("anyOf", [node])):
        if branch.get("type") != "null":
            yield branch


def _member(node: Node, part: str | int) -> Node | None:
    """Return the schema of member *part*; for a list, that of its items."""
    for branch in _branches(node):
        if part in branch.get("properties", {}):
            return _resolve(branch["properties"][part])
    for branch in _branches(node):
        if isinstance(branch.get("additionalProperties"), dict):
            return _resolve(branch["additionalProperties"])
        if isinstance(branch.get("items"), dict):
            return _member(_resolve(branch["items"]), part)
    return None


def _named(node: Node) -> Node | None:
    """Return the schema of the values of a mapping with free names, such as env or labels."""
    for branch in _branches(node):
        if isinstance(branch.get("additionalProperties"), dict):
            return _resolve(branch["additionalProperties"])
    return None


def _children(field: Field) -> Iterator[Field]:
    """Yield the fields of a mapping, or those of the items or values of a collection."""
    for branch in _branches(field.node):
        for name, node in branch.get("properties", {}).items():
            required = name in _required(field.node) and field.path[:1] != ("profiles",)
            yield Field((*field.path, name), _resolve(node), required)
        if isinstance(branch.get("items"), dict):
            yield from _children(Field(field.path, _resolve(branch["items"])))
    if (value := _named(field.node)) is not None:
        yield from _children(Field((*field.path, _ANY_NAME), value))


def _required(node: Node) -> set[str]:
    return {name for branch in _branches(node) for name in branch.get("required", [])}


def _types(node: Node) -> list[str]:
    """Return the JSON types of a value, without null."""
    accepted: list[str] = []
    for branch in _branches(node):
        types = branch.get("type", [])
        accepted += types if isinstance(types, list) else [types]
    return [name for name in dict.fromkeys(accepted) if name != "null"]


def _type(node: Node) -> str:
    """Format the type: `list of strings`, `number or string`."""
    words = []
    for kind in _types(node):
        word = _TYPE_NAMES[kind]
        for branch in _branches(node):
            if kind == "array" and isinstance(branch.get("items"), dict):
                word = f"list of {_plural(_resolve(branch['items']))}"
            if kind == "object" and (value := _named(branch)) is not None:
                word = f"mapping of names to {_plural(value)}"
        words.append(word)
    return _either(words) or "any type"


def _plural(node: Node) -> str:
    return _either([f"{_TYPE_NAMES[kind]}s" for kind in _types(node)]) or "any type"


def _short_type(node: Node) -> str:
    return _either([_TYPE_NAMES[kind] for kind in _types(node)]) or "any type"


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _expected(node: Node) -> str:
    for branch in _branches(node):
        if "x-expected" in branch:
            return str(branch["x-expected"])
        if "minimum" in branch and "maximum" in branch:
            return f"{branch['minimum']} to {branch['maximum']}"
    return ""


def _values(node: Node) -> list[tuple[str, str]]:
    choices = [choice for choice in node.get("enum", []) if choice is not None]
    meanings = node.get("enumDescriptions", [""] * len(choices))
    return [(str(choice), meaning) for choice, meaning in zip(choices, meanings)]


def _row(field: Field) -> tuple[str, str, str]:
    required = "Required. " if field.required else ""
    return field.name, _short_type(field.node), required + field.description


def _table(rows: list[Any]) -> list[str]:
    """Format rows in columns and wrap the last column."""
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
    children = list(_children(field))
    if value is not None and children:
        children = [Field((*field.path, _ANY_NAME), value)]
    for child in children:
        yield from _branch(child, depth + 1)


def _data(field: Field, *, deep: bool, inner: bool = False) -> shapes.Field:
    node = field.node
    data: shapes.Field = {
        "path": dotted(field.path),
        "types": _types(node),
        "required": field.required,
        "description": field.description,
        "examples": node.get("examples", []),
    }
    if "default" in node:
        data["default"] = node["default"]
    if expected := _expected(node):
        data["expected"] = expected
    if values := _values(node):
        data["values"] = [{"value": value, "description": meaning} for value, meaning in values]
    if deep or not inner:
        repeats = inner and field.path == ("profiles",)
        children = [] if repeats else _children(field)
        data["fields"] = [_data(child, deep=deep, inner=True) for child in children]
    return data
