"""
Parse a text into a tree of nodes with their first and last character.

Documents keep positions only for diagnostics; an edit also needs styles, anchors, aliases and the
ends of collections.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_PROPERTY = re.compile(r"[&!]\S*")
_BREAK = re.compile(r"\r\n?|\n")
_LAST_BREAK = re.compile(r"(?:\r\n?|\n)\Z")


class Node:
    """
    One node of a document.

    Its anchor and tag are between `first` and `head`, its content between `start` and `end`. The
    content of a block ends with the last character of its last line that is not blank.
    """

    __slots__ = ("children", "end", "first", "flow", "head", "keys", "kind", "start", "style")

    def __init__(self, kind: Literal["scalar", "alias", "mapping", "sequence"]) -> None:
        self.kind = kind
        self.first = self.head = self.start = self.end = 0
        self.style = ""
        self.flow = False
        self.keys: list[tuple[str, Node]] = []
        self.children: list[Node] = []

    @property
    def is_marked(self) -> bool:
        """Whether the node has an anchor or a tag."""
        return self.head > self.first

    @property
    def is_block(self) -> bool:
        """Whether this is a collection in block style."""
        return self.kind in ("mapping", "sequence") and not self.flow

    def position(self, part: str | int) -> int | None:
        """Return the index of child *part*, or None; keys merged with `<<` are not children."""
        if self.kind == "sequence" and isinstance(part, int):
            return part
        if self.kind == "mapping":
            return next((i for i, (key, _) in enumerate(self.keys) if key == part), None)
        return None


def roots(text: str) -> list[Node | None]:
    """Return the root node of every document of a valid *text*."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    events: Iterator[Any] = yaml.parse(text, Loader=loader)
    nodes: list[Node | None] = []
    for event in events:
        if isinstance(event, DocumentStartEvent):
            nodes.append(_node(next(events), events, text))
    return nodes or [None]


def gap(text: str, position: int) -> int:
    """Return the next position after spaces, line breaks and comments."""
    match = _GAP.match(text, position)
    return match.end() if match else position


def line_start(text: str, position: int) -> int:
    """Return the first position of the line that contains *position*."""
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def line_end(text: str, position: int) -> int:
    """Return the position of the line break after *position*, or the end of the text."""
    match = _BREAK.search(text, position)
    return match.start() if match else len(text)


def next_line(text: str, position: int) -> int:
    """Return the first position of the next line."""
    match = _BREAK.search(text, position)
    return match.end() if match else len(text)


def column(text: str, position: int) -> int:
    """Return the distance of *position* from the start of its line."""
    return position - line_start(text, position)


def dash(text: str, sequence: Node, index: int) -> int:
    """Return the position of the dash of one item of a block sequence."""
    before = sequence.children[index - 1].end if index else sequence.start
    return gap(text, before)


def _node(event: Any, events: Iterator[Any], text: str) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, AliasEvent):
        return _placed(Node("alias"), start, start, start, end)
    head = _head(event, text, start)
    if isinstance(event, ScalarEvent):
        node = _placed(Node("scalar"), start, head, min(_skip(text, start, head), end), end)
        # The style of a plain scalar is "" from libyaml, and None from the pure Python parser.
        node.style = event.style or ""
        if node.style in ("|", ">"):
            node.end = _block_scalar_end(text, node.start, end)
        return node
    if isinstance(event, SequenceStartEvent):
        node = Node("sequence")
        while not isinstance(event_ := next(events), SequenceEndEvent):
            node.children.append(_node(event_, events, text))
    else:
        assert isinstance(event, MappingStartEvent)
        node = Node("mapping")
        while not isinstance(event_ := next(events), MappingEndEvent):
            key = _node(event_, events, text)
            value = getattr(event_, "value", "")
            node.keys.append((value, key))
            node.children.append(_node(next(events), events, text))
    node.flow = bool(event.flow_style)
    last = (
        event_.end_mark.index if node.flow else max(head, *(child.end for child in node.children))
    )
    return _placed(node, start, head, _skip(text, start, head), last)


def _placed(node: Node, first: int, head: int, start: int, end: int) -> Node:
    node.first, node.head, node.start, node.end = first, head, start, end
    return node


def _head(event: Any, text: str, start: int) -> int:
    """Return the end of the anchor and tag of a node."""
    position = start
    for mark in (event.anchor, event.tag):
        if mark is not None and (match := _PROPERTY.match(text, gap(text, position))):
            position = match.end()
    return position


def _skip(text: str, start: int, head: int) -> int:
    return gap(text, head) if head > start else start


def _block_scalar_end(text: str, start: int, end: int) -> int:
    header = text[start : line_end(text, start)]
    if "+" in header.partition("#")[0]:
        match = _LAST_BREAK.search(text, start, end)
        return match.start() if match else end
    return line_end(text, len(text[:end].rstrip()))
