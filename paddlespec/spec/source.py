"""
Parse YAML 1.2 into documents that keep the position of every key and value.

libyaml supplies the events. Values, limits and diagnostics are implemented here, because no loader
keeps positions and limits hostile input. Only broken syntax ends a stream; every other problem is
a diagnostic next to the documents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from paddlespec.diagnostic import Diagnostic, Span
from paddlespec.spec.document import (
    Document,
    Mark,
    Origin,
    Place,
)
from paddlespec.spec.scalar import UnusableNumber, plain

if TYPE_CHECKING:
    from collections.abc import Callable

Event = Any
"""A parser event; the type stubs lack the marks of parsed events."""

MAX_BYTES = 4 << 20
MAX_NODES = 100_000
MAX_DEPTH = 64
_STRING_TAG = "tag:yaml.org,2002:str"
_MAX_WORD_LENGTH = 60
_BREAK = re.compile("\r\n?|\n")
# YAML 1.2 reads U+0085, U+2028 and U+2029 as text, libyaml as line breaks, so they are rejected.
_UNUSABLE = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
_UNUSABLE_ESCAPED = re.compile("[\0\ud800-\udfff]")


class _PureParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """A slower replacement for platforms without libyaml."""

    def __init__(self, stream: str) -> None:
        yaml.reader.Reader.__init__(self, stream)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)

    def get_event(self) -> Event:
        try:
            return super().get_event()  # type: ignore[no-untyped-call]
        except (ValueError, OverflowError):  # a number out of range in an escape or a version
            message = "invalid escape or version"
            raise yaml.scanner.ScannerError(None, None, message, self.get_mark()) from None


_Parser: Callable[[str], Any] = _PureParser
try:
    from yaml._yaml import CParser
except ImportError:
    pass
else:
    _Parser = CParser


class Reading(NamedTuple):
    """The documents of a stream, and its diagnostics."""

    documents: list[Document]
    diagnostics: list[Diagnostic]


def read(content: bytes | str, name: str, layer: str = "spec") -> Reading:
    """Parse all documents of *content*; spans refer to *name*, origins to *layer*."""
    if len(content) > MAX_BYTES:
        message = f"larger than {MAX_BYTES >> 20} MiB"
        return Reading([], [Diagnostic("too-large", message, Span(name))])
    encoding = _encoding(content)
    try:
        text = content if isinstance(content, str) else content.decode(encoding)
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(encoding)
        message = f"not valid {encoding.upper()} text"
        return Reading([], [Diagnostic("encoding", message, _after(before, name))])
    text = text.removeprefix("\ufeff")
    if bad := _UNUSABLE.search(text):
        message = f"invalid character U+{ord(bad[0]):04X}"
        span = _after(text[: bad.start()], name)
        hint = f'write "\\u{ord(bad[0]):04X}" in double quotes' if ord(bad[0]) else None
        return Reading([], [Diagnostic("syntax", message, span, hint=hint)])
    return _Composer(text, Origin(layer, name, text)).stream()


def _encoding(content: bytes | str) -> str:
    marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    return marks.get(content[:2], "utf-8") if isinstance(content, bytes) else "utf-8"


def _after(before: str, name: str) -> Span:
    """Return the span of the character after the text *before*."""
    before = before.removeprefix("\ufeff")
    lines = _BREAK.split(before)
    column = len(lines[-1]) + 1
    return Span(name, len(lines), column, column + 1)


class _Broken(Exception):
    """Raised when the rest of the stream cannot be read."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _Anchor(NamedTuple):
    """The value of an anchor, and the size and height it adds at every alias."""

    value: Any
    place: Place
    size: int = 1
    height: int = 0


class _Composer:
    """Builds values and places from events, and counts nodes; an alias counts with its full size."""

    def __init__(self, text: str, origin: Origin) -> None:
        self.origin = origin
        self.text = text
        self.last_line = text.count("\n") + text.count("\r") - text.count("\r\n")
        self.diagnostics: list[Diagnostic] = []
        self.nodes_left = MAX_NODES
        self.deepest = 0

    def stream(self) -> Reading:
        documents = []
        try:
            self.next: Callable[[], Event] = _Parser(self.text).get_event
            self.next()
            while not isinstance(self.next(), StreamEndEvent):
                self.anchors: dict[str, _Anchor | None] = {}
                documents.append(Document(*self.node(self.next(), 0)))
                self.next()
        except _Broken as broken:
            self.diagnostics.append(broken.diagnostic)
        except yaml.MarkedYAMLError as error:
            self.diagnostics.append(self.syntax(error))
        except yaml.YAMLError as error:
            message = str(error).split("\n")[0]
            self.diagnostics.append(Diagnostic("syntax", message, Span(self.origin.source)))
        if not documents and not self.diagnostics:
            documents = [Document(None, Place(self.origin, (0, 0), (0, 0)))]
        return Reading(documents, self.diagnostics)

    def node(self, event: Event, depth: int) -> tuple[Any, Place]:
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise self.broken("too-large", "the document expands to too many values", event)
        if type(event) is ScalarEvent:
            return self.scalar(event)
        if type(event) is AliasEvent:
            return self.alias(event, depth)
        self.descend(event, depth)
        if event.tag is not None:
            self.tag(event)
        if event.anchor:
            self.anchors[event.anchor] = None
        before, deepest = self.nodes_left, self.deepest
        self.deepest = depth
        start = self.marks(event)[0]
        if type(event).__name__ == "MappingStartEvent":
            value, place = self.mapping(start, depth)
        else:
            value, place = self.sequence(start, depth)
        if event.anchor:
            size = before - self.nodes_left + 1
            self.anchors[event.anchor] = _Anchor(value, place, size, self.deepest - depth)
        self.deepest = max(deepest, self.deepest)
        return value, place

    def descend(self, event: Event, depth: int) -> None:
        """Count a level at *depth*, which an alias may increase by its height."""
        if depth >= MAX_DEPTH:
            raise self.broken("too-deep", f"nested more than {MAX_DEPTH} levels deep", event)
        self.deepest = max(self.deepest, depth)

    def scalar(self, event: Event) -> tuple[Any, Place]:
        value = event.value
        if event.tag is None and event.implicit[0]:
            try:
                value = plain(value)
            except UnusableNumber as error:
                self.report("number", str(error), event)
        else:
            self.text_of(event)
        place = Place(self.origin, *self.marks(event))
        if event.anchor:
            self.anchors[event.anchor] = _Anchor(value, place)
        return value, place

    def text_of(self, event: Event) -> str:
        """Return the text of a key, or of a quoted or tagged value."""
        text: str = event.value
        if event.tag is not None and event.tag != _STRING_TAG:
            self.tag(event)
        if bad := _UNUSABLE_ESCAPED.search(text):
            self.report("syntax", f"invalid character U+{ord(bad[0]):04X}", event)
        return text

    def alias(self, event: Event, depth: int) -> tuple[Any, Place]:
        if event.anchor not in self.anchors:
            self.report("alias", f"anchor &{_short(event.anchor)} is not defined above", event)
            return None, Place(self.origin, *self.marks(event))
        target = self.anchors[event.anchor]
        if target is None:
            self.report("alias", f"alias *{_short(event.anchor)} refers to its own parent", event)
            return None, Place(self.origin, *self.marks(event))
        self.nodes_left -= target.size - 1
        if self.nodes_left < 0:
            raise self.broken("too-large", "aliases expand to too many values", event)
        if target.height or isinstance(target.value, (dict, list)):
            self.descend(event, depth + target.height)
        return target.value, target.place

    def sequence(self, start: Mark, depth: int) -> tuple[Any, Place]:
        values, places = [], []
        while type(event := self.next()) is not SequenceEndEvent:
            value, place = self.node(event, depth + 1)
            values.append(value)
            places.append(place)
        return values, Place(self.origin, start, None, places)

    def mapping(self, start: Mark, depth: int) -> tuple[Any, Place]:
        values: dict[str, Any] = {}
        places: dict[str, Place] = {}
        keys: dict[str, tuple[Mark, Mark]] = {}
        merged: list[tuple[Any, Place, Event]] = []
        while type(event := self.next()) is not MappingEndEvent:
            if type(event) is not ScalarEvent:
                self.report("key", "a key must be a string", event)
                self.node(event, depth + 1)
                self.node(self.next(), depth + 1)
                continue
            key, marks = self.text_of(event), self.marks(event)
            if event.anchor:
                self.anchors[event.anchor] = _Anchor(key, Place(self.origin, *marks))
            merges = key == "<<" and event.implicit[0]
            value, place = self.node(self.next(), depth if merges else depth + 1)
            if key in keys:
                first = keys[key][0]
                message = f'duplicate key "{_short(key)}": first set at line {first[0] + 1}'
                self.report("duplicate-key", f"{message}, column {first[1] + 1}", event)
                continue
            keys[key] = marks
            if merges:
                merged.append((value, place, event))
            else:
                values[key], places[key] = value, place
        if merged:
            del keys["<<"]
        for value, place, event in merged:
            self.merge(values, places, keys, value, place, event)
        return values, Place(self.origin, start, None, places, keys)

    def merge(
        self,
        values: dict[str, Any],
        places: dict[str, Place],
        keys: dict[str, tuple[Mark, Mark]],
        value: Any,
        place: Place,
        event: Event,
    ) -> None:
        """Add the keys of the mappings after `<<`; existing keys and earlier mappings win."""
        children = place.children if isinstance(place.children, list) else [place]
        for source, where in zip(value if isinstance(value, list) else [value], children):
            if not isinstance(source, dict) or not isinstance(where.children, dict):
                self.report("merge-key", "<< requires a mapping or a list of mappings", event)
                continue
            self.nodes_left -= len(source)
            if self.nodes_left < 0:
                raise self.broken("too-large", "merge keys expand to too many values", event)
            for key in source:
                if key not in values and where.keys:
                    values[key], places[key] = source[key], where.children[key]
                    keys[key] = where.keys[key]

    def tag(self, event: Event) -> None:
        self.report("tag", f"tag {_short(event.tag)} is not allowed", event)

    def report(self, code: str, message: str, event: Event) -> None:
        self.diagnostics.append(self.at(code, message, event))

    def broken(self, code: str, message: str, event: Event) -> _Broken:
        return _Broken(self.at(code, message, event))

    def marks(self, event: Event) -> tuple[Mark, Mark]:
        """Return the start and end of *event*, which libyaml may place below the last line."""
        start, end = event.start_mark, event.end_mark
        if start.line > self.last_line:
            mark = (self.last_line, len(_BREAK.split(self.text)[-1]))
            return mark, mark
        return (start.line, start.column), (end.line, end.column)

    def at(self, code: str, message: str, event: Event) -> Diagnostic:
        (line, column), end = self.marks(event)
        last = max(end[1] if end[0] == line else 0, column + 1)
        return Diagnostic(code, message, Span(self.origin.source, line + 1, column + 1, last + 1))

    def syntax(self, error: yaml.MarkedYAMLError) -> Diagnostic:
        mark = error.problem_mark or error.context_mark
        message = error.problem or error.context or "not valid YAML"
        lines = _BREAK.split(self.text)
        line, column = (mark.line, mark.column) if mark else (0, 0)
        if line > self.last_line:
            line, column = self.last_line, len(lines[-1])
        if "cannot start any token" in message:
            char = lines[line][column : column + 1]
            message = f"a value cannot start with {char}; quote it"
            if char == "\t":
                message = "tabs cannot be used for indentation; use spaces"
        span = Span(self.origin.source, line + 1, column + 1, column + 2)
        return Diagnostic("syntax", message, span)


def _short(word: str) -> str:
    """Shorten *word* for a message."""
    return word if len(word) <= _MAX_WORD_LENGTH else word[:_MAX_WORD_LENGTH] + "…"
