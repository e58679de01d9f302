"""
Change the value at one path with the smallest change of the text.

Only the characters of the value change, or whole lines where an entry is added or removed. The
result may be wrong for rare notations (explicit keys, tags), so the caller parses it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from paddlespec.spec.edit import writer
from paddlespec.spec.edit.nodes import (
    Node,
    column,
    dash,
    gap,
    line_end,
    line_start,
    next_line,
)

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.spec.edit.writer import Style

Action = Literal["set", "append", "remove"]


class Slot(NamedTuple):
    """A node with its parent and its index there; `flow` is set inside brackets."""

    node: Node
    parent: Node | None = None
    position: int = 0
    flow: bool = False


def splice(text: str, root: Node | None, path: Path, action: Action, expected: Any) -> str:
    """
    Set the value at *path* of *text* to that in *expected*, the data of the whole document.

    *path* refers to list items by index. A missing parent is added as a whole.
    """
    style = writer.style_of(text, root)
    if root is None:
        return _ended(text, style) + _text(writer.mapping(expected, 0, style), style)
    slot, parent = Slot(root), Slot(root)
    for depth, part in enumerate(path):
        position = slot.node.position(part)
        if position is None:
            if slot.node.kind == "mapping" and slot.node.children:
                if action == "remove":
                    return text
                key = str(part)
                value = _at(expected, path[: depth + 1])
                # A new parent is written as a block, whatever the style of its siblings.
                block = depth + 1 < len(path)
                return _insert(text, slot, key, value, style, block=block)
            return _replace(text, slot, _at(expected, path[:depth]), style)
        parent = slot
        flow = slot.flow or slot.node.flow
        slot = Slot(slot.node.children[position], slot.node, position, flow)
    if action == "remove":
        return _remove(text, parent, slot.position, style)
    value = _at(expected, path)
    if action == "append" and slot.node.kind == "sequence" and slot.node.children:
        return _insert(text, slot, None, value[-1], style)
    return _replace(text, slot, value, style)


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _ended(text: str, style: Style) -> str:
    return text if not text or text[-1] in "\r\n" else text + style.newline


def _text(lines: list[str], style: Style) -> str:
    return "".join(line + style.newline for line in lines)


def _joined(lines: list[str], style: Style) -> str:
    return style.newline.join(lines)


def _replace(text: str, slot: Slot, value: Any, style: Style) -> str:
    """Replace the value of *slot*; a comment on its line is kept."""
    node = slot.node
    collection = isinstance(value, (dict, list)) and bool(value)
    if slot.flow or (collection and node.flow and node.children):
        written = writer.flow(value, style)
        if _keeps_quotes(node, value):
            written = writer.scalar(value, style, node.style, flow=True)
        space = "" if text[node.start - 1] in " [{\r\n" else " "
        return text[: node.start] + space + written + text[node.end :]
    if slot.parent is None:
        return _replace_root(text, node, value, style)
    if collection and node.is_block and isinstance(value, dict) == (node.kind == "mapping"):
        after = text[line_end(text, node.end) :]
        return text[: node.start] + _same_kind(text, node, value, style) + after
    if slot.parent.kind == "sequence":
        return _replace_item(text, slot, value, style)
    return _replace_value(text, slot, value, style)


def _same_kind(text: str, node: Node, value: Any, style: Style) -> str:
    """Format a block that replaces one of the same kind."""
    indent = column(text, node.start)
    written = writer.mapping if isinstance(value, dict) else writer.sequence
    return _joined(written(value, indent, style), style)[indent:]


def _replace_root(text: str, node: Node, value: Any, style: Style) -> str:
    before, after = text[: node.start], text[node.end :]
    block = writer.mapping(value, 0, style) if value else [writer.flow(value, style)]
    if value and before[line_start(text, node.start) :].strip(" "):
        before = before.rstrip(" ") + style.newline
    written = _joined(block, style) if node.end > node.start else _text(block, style)
    return before + written + after


def _replace_value(text: str, slot: Slot, value: Any, style: Style) -> str:
    assert slot.parent is not None
    node, key = slot.node, slot.parent.keys[slot.position][1]
    written = writer.lines(value, column(text, key.start), style)
    if _keeps_quotes(node, value):
        written = writer.Lines(writer.scalar(value, style, node.style), [])
    if node.is_block:
        before = text[: _opening(text, node, key)]
        tail = text[len(before) : line_end(text, len(before))]
    else:
        before, tail = text[: node.start], _tail(text, node)
    resume = line_end(text, node.end)
    if not written.head:
        before = before.rstrip(" ")
    elif before[-1] not in " \n\r":
        before += " "
    return before + _joined([written.head + tail, *written.body], style) + text[resume:]


def _opening(text: str, node: Node, key: Node) -> int:
    """Return the end of the key of a block, including the anchor of the block."""
    return node.head if node.is_marked else text.find(":", key.end) + 1


def _keeps_quotes(node: Node, value: Any) -> bool:
    return node.style in ("'", '"') and isinstance(value, str) and "\n" not in value


def _tail(text: str, node: Node) -> str:
    """Return the rest of the line after a value: spaces and a comment."""
    if node.style in ("|", ">"):
        _, mark, comment = text[node.start : line_end(text, node.start)].partition(" #")
        return mark + comment
    return text[node.end : line_end(text, node.end)]


def _replace_item(text: str, slot: Slot, value: Any, style: Style) -> str:
    assert slot.parent is not None
    node = slot.node
    indent = column(text, dash(text, slot.parent, slot.position))
    first, *rest = writer.item(value, indent, style)
    if _keeps_quotes(node, value):
        first, rest = f"{' ' * indent}- {writer.scalar(value, style, node.style)}", []
    before = text[: node.start]
    before += "" if before[-1] in " \n\r" else " "
    head = first[indent + 2 :] + ("" if node.is_block else _tail(text, node))
    return before + _joined([head, *rest], style) + text[line_end(text, node.end) :]


def _insert(
    text: str, slot: Slot, key: str | None, value: Any, style: Style, *, block: bool = False
) -> str:
    """Add an entry to a collection that is not empty; *key* is None for a list item."""
    node = slot.node
    last = node.children[-1]
    as_flow = not block and _uses_flow(node, value)
    if node.flow or slot.flow:
        return _insert_flow(text, node, key, value, style)
    if key is None:
        indent = column(text, dash(text, node, 0))
        pad = " " * indent
        added = [f"{pad}- {writer.flow(value, style)}"] if as_flow else None
        added = added or writer.item(value, indent, style)
    else:
        indent = column(text, node.start)
        written = writer.lines(value, indent, style)
        if as_flow:
            written = writer.Lines(writer.flow(value, style), [])
        added = writer.entry(key, written, indent, style)
    position = line_end(text, max(last.end, node.keys[-1][1].end if node.keys else 0))
    return text[:position] + style.newline + _joined(added, style) + text[position:]


def _uses_flow(node: Node, value: Any) -> bool:
    """Whether the children of *node* that are collections like *value* use brackets."""
    kind = "mapping" if isinstance(value, dict) else "sequence" if isinstance(value, list) else ""
    similar = [child for child in node.children if child.kind == kind and child.children]
    return bool(similar and similar[-1].flow)


def _insert_flow(text: str, node: Node, key: str | None, value: Any, style: Style) -> str:
    added = writer.flow(value, style) if key is None else writer.flow_entry(key, value, style)
    end = node.children[-1].end
    first = (node.keys[-1][1] if node.keys else node.children[-1]).start
    comma = gap(text, end)
    trailing = text[comma] == ","
    start = line_start(text, first)
    if text[start:first].strip(" ") or gap(text, comma + trailing) < next_line(text, end):
        return f"{text[:end]}, {added}{text[end:]}"
    # The last entry is on its own lines, and so is the new one.
    position = line_end(text, max(end, comma) if trailing else end)
    before = text[:position] if trailing else f"{text[:end]},{text[end:position]}"
    line = text[start:first] + added + ("," if trailing else "")
    return before + style.newline + line + text[position:]


def _remove(text: str, slot: Slot, index: int, style: Style) -> str:
    """Remove one entry of a collection."""
    node = slot.node
    if len(node.children) == 1:
        return _empty(text, slot, style)
    start, end = _start(text, node, index), node.children[index].end
    if node.keys:
        end = max(end, node.keys[index][1].end)
    after = gap(text, end)
    if node.flow and text[after] == ",":
        end = after + 1
    line = line_start(text, start)
    is_last = index + 1 == len(node.children)
    # JSON has no comma after the last entry.
    keeps_line = style.json and is_last
    if not keeps_line and not text[line:start].strip(" ") and _rest_is_comment(text, end):
        return _without_lines(text, line, next_line(text, end))
    if not is_last:
        following = _start(text, node, index + 1)
        if node.is_block and line_start(text, following) > next_line(text, end):
            # The dash is kept, and so are comments between the first two entries of an item.
            return text[:start].rstrip(" ") + text[line_end(text, end) :]
        return text[:start] + text[following:]
    return text[: node.children[index - 1].end] + text[end:]


def _empty(text: str, slot: Slot, style: Style) -> str:
    """Remove the only entry of a collection; comments above the entry are kept."""
    node = slot.node
    value: Any = {} if node.kind == "mapping" else []
    line = line_start(text, _start(text, node, 0))
    if slot.parent is None or slot.parent.kind != "mapping" or not node.is_block:
        return _replace(text, slot, value, style)
    opening = _opening(text, node, slot.parent.keys[slot.position][1])
    if line < opening:
        return _replace(text, slot, value, style)
    rest = _without_lines(text, line, next_line(text, node.end))
    return f"{rest[:opening]} {writer.flow(value, style)}{rest[opening:]}"


def _start(text: str, node: Node, index: int) -> int:
    if node.kind == "mapping":
        return node.keys[index][1].first
    return node.children[index].start if node.flow else dash(text, node, index)


def _rest_is_comment(text: str, position: int) -> bool:
    rest = text[position : line_end(text, position)].strip(" \t")
    return not rest or rest.startswith("#")


def _without_lines(text: str, start: int, end: int) -> str:
    """Remove lines; the text ends without a line break if it did before."""
    before, after = text[:start], text[end:]
    if not after and text[-1] not in "\r\n":
        before = before.removesuffix("\n").removesuffix("\r")
    return before + after
