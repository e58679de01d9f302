"""Write values in the style of the surrounding text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.spec.edit.nodes import column, dash
from paddlespec.spec.emit import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.spec.edit.nodes import Node

# Text that emit quotes but people do not, such as `${{ parameters.passes }}`. It has several words:
# only a single word could be read as another type.
_SENTENCE = re.compile(r"[A-Za-z/$][^#]* [^#]*(?<![: ])\Z")
_DURATION = re.compile(r"(?:[0-9]+[dhms])+\Z")
_UNUSABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_FLOW_MARKS = frozenset(",[]{}")


class Lines(NamedTuple):
    """A value as text: `head` on the line of the key, and the indented lines below it."""

    head: str
    body: list[str]


class Style(NamedTuple):
    """The style of a text: indentation, line breaks, and whether it is JSON."""

    step: int = 2
    list_step: int = 2
    newline: str = "\n"
    json: bool = False


def style_of(text: str, root: Node | None) -> Style:
    """Detect the style of *text* from its first line break and its first block collections."""
    newline = re.search(r"\r\n?|\n", text)
    steps = dict(reversed(list(_steps(text, root)))) if root else {}
    as_json = bool(root and root.flow and root.keys and root.keys[0][1].style == '"')
    return Style(
        steps.get("mapping", 2),
        steps.get("sequence", steps.get("mapping", 2)),
        newline[0] if newline else "\n",
        as_json,
    )


def _steps(text: str, node: Node) -> Iterator[tuple[str, int]]:
    """Yield the kind and relative indentation of the block collections in mappings."""
    for (_, key), child in zip(node.keys, node.children):
        if child.is_block and not node.flow:
            first = dash(text, child, 0) if child.kind == "sequence" else child.start
            yield child.kind, column(text, first) - column(text, key.start)
    for child in node.children:
        yield from _steps(text, child)


def scalar(value: Any, style: Style, quote: str = "", *, flow: bool = False) -> str:
    """Write a scalar on one line, with the quotes of the scalar it replaces."""
    if style.json or not isinstance(value, str):
        return _json(value)
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    # A key is always on one line.
    written = dump({value: None}).removesuffix(": null\n")
    if written[0] != '"':
        return f'"{written}"' if quote == '"' or (flow and _FLOW_MARKS & set(written)) else written
    plain = quote != '"' and _is_plain(value) and not (flow and _FLOW_MARKS & set(value))
    return value if plain else written


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNUSABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _is_plain(value: str) -> bool:
    if _DURATION.match(value):
        return True
    return bool(value.isprintable() and _SENTENCE.match(value) and ": " not in value)


def flow(value: Any, style: Style) -> str:
    """Write a value on one line."""
    if style.json:
        return _json(value)
    if isinstance(value, dict):
        return (
            "{" + ", ".join(flow_entry(key, member, style) for key, member in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(flow(entry, style) for entry in value) + "]"
    return scalar(value, style, flow=True)


def flow_entry(key: str, value: Any, style: Style) -> str:
    """Write one entry of a flow mapping."""
    return f"{scalar(key, style, flow=True)}: {flow(value, style)}"


def lines(value: Any, indent: int, style: Style) -> Lines:
    """Write the value of a key at *indent*; collections and long strings become blocks."""
    if isinstance(value, dict) and value:
        return Lines("", mapping(value, indent + style.step, style))
    if isinstance(value, list) and value:
        return Lines("", sequence(value, indent + style.list_step, style))
    if isinstance(value, (dict, list)):
        return Lines(flow(value, style), [])
    if isinstance(value, str) and "\n" in value:
        head, *body = dump({"k": value}).removesuffix("\n").removeprefix("k: ").split("\n")
        if body:
            pad = " " * (indent + style.step)
            return Lines(head, [pad + line.removeprefix("  ") if line else "" for line in body])
    return Lines(scalar(value, style), [])


def mapping(value: dict[str, Any], indent: int, style: Style) -> list[str]:
    """Write the lines of a block mapping."""
    written = []
    for key, member in value.items():
        written += entry(key, lines(member, indent, style), indent, style)
    return written


def entry(key: str, written: Lines, indent: int, style: Style) -> list[str]:
    """Write the lines of one entry of a block mapping."""
    first = f"{' ' * indent}{scalar(key, style)}:"
    return [f"{first} {written.head}" if written.head else first, *written.body]


def sequence(value: list[Any], indent: int, style: Style) -> list[str]:
    """Write the lines of a block sequence."""
    return [line for entry in value for line in item(entry, indent, style)]


def item(value: Any, indent: int, style: Style) -> list[str]:
    """Write the lines of one item; a collection starts on the line of the dash."""
    pad = " " * indent
    inner: list[str] = []
    if isinstance(value, dict) and value:
        inner = mapping(value, indent + 2, style)
    elif isinstance(value, list) and value:
        inner = sequence(value, indent + 2, style)
    if inner:
        return [f"{pad}- {inner[0][indent + 2 :]}", *inner[1:]]
    written = lines(value, indent, style)
    return [f"{pad}- {written.head}", *written.body]
