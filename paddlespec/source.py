"""
From bytes to documents: YAML 1.2 with the place of every key and value.

libyaml supplies the events; values, bounds and findings are made here, because no loader keeps
places and stays within bounds on hostile input. What can be read is read: only broken syntax ends
a stream, everything else is a finding beside the documents.
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
from paddlespec.document import Document, Mark, Origin, Place
from paddlespec.scalar import UnusableNumber, plain

if TYPE_CHECKING:
    from collections.abc import Callable

Event = Any
"""An event of the parser; the stubs do not know that parsed ones have their marks."""

MOST_BYTES = 4 << 20
MOST_NODES = 100_000
MOST_DEPTH = 64
_STRING_TAG = "tag:yaml.org,2002:str"
_LONGEST_WORD = 60
_BREAK = re.compile("\r\n?|\n")
# U+0085, U+2028 and U+2029 are text to YAML 1.2 and line breaks to libyaml: neither is assumed.
_UNUSABLE = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
_UNUSABLE_ESCAPED = re.compile("[\0\ud800-\udfff]")


class _PureParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """The events of libyaml for a platform without it, slower."""

    def __init__(self, stream: str) -> None:
        yaml.reader.Reader.__init__(self, stream)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)

    def get_event(self) -> Event:
        try:
            return super().get_event()  # type: ignore[no-untyped-call]
        except (ValueError, OverflowError):  # an escape or a version beyond every number
            message = "found an invalid escape or version"
            raise yaml.scanner.ScannerError(None, None, message, self.get_mark()) from None


_Parser: Callable[[str], Any] = _PureParser
try:
    from yaml._yaml import CParser
except ImportError:
    pass
else:
    _Parser = CParser


class Reading(NamedTuple):
    """What a stream held: its documents, and what was wrong with it."""

    documents: list[Document]
    diagnostics: list[Diagnostic]


def read(content: bytes | str, name: str, layer: str = "spec") -> Reading:
    """Read every document of *content*; *name* stands in spans, *layer* in origins."""
    if len(content) > MOST_BYTES:
        return Reading([], [_whole(name, "too-large", f"more than {MOST_BYTES >> 20} MiB")])
    encoding = _encoding(content)
    try:
        text = content if isinstance(content, str) else content.decode(encoding)
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(encoding)
        message = f"not valid {encoding.upper()} text"
        return Reading([], [Diagnostic("encoding", message, _after(before, name))])
    text = text.removeprefix("\ufeff")
    if bad := _UNUSABLE.search(text):
        message = f"the character U+{ord(bad[0]):04X} is not allowed"
        span = _after(text[: bad.start()], name)
        hint = f'in double quotes it is written "\\u{ord(bad[0]):04X}"' if ord(bad[0]) else None
        return Reading([], [Diagnostic("syntax", message, span, hint=hint)])
    return _Composer(text, Origin(layer, name, text)).stream()


def _encoding(content: bytes | str) -> str:
    marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    return marks.get(content[:2], "utf-8") if isinstance(content, bytes) else "utf-8"


def _after(before: str, name: str) -> Span:
    """The span of the character that follows the text *before*."""
    before = before.removeprefix("\ufeff")
    lines = _BREAK.split(before)
    column = len(lines[-1]) + 1
    return Span(name, len(lines), column, column + 1)


def _whole(name: str, code: str, message: str) -> Diagnostic:
    return Diagnostic(code, message, Span(name))


class _Broken(Exception):
    """The stream cannot be read any further."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _Anchor(NamedTuple):
    """What an alias stands for, and what it costs to write it out."""

    value: Any
    place: Place
    size: int = 1
    height: int = 0


class _Composer:
    """Builds values and places from events; every node is counted, an alias with its whole size."""

    def __init__(self, text: str, origin: Origin) -> None:
        self.origin = origin
        self.text = text
        self.last = text.count("\n") + text.count("\r") - text.count("\r\n")
        self.found: list[Diagnostic] = []
        self.left = MOST_NODES
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
            self.found.append(broken.diagnostic)
        except yaml.MarkedYAMLError as error:
            self.found.append(self.syntax(error))
        except yaml.YAMLError as error:
            self.found.append(_whole(self.origin.source, "syntax", str(error).split("\n")[0]))
        if not documents and not self.found:
            documents = [Document(None, Place(self.origin, (0, 0), (0, 0)))]
        return Reading(documents, self.found)

    def node(self, event: Event, depth: int) -> tuple[Any, Place]:
        self.left -= 1
        if self.left < 0:
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
        before, deepest = self.left, self.deepest
        self.deepest = depth
        start = self.marks(event)[0]
        if type(event).__name__ == "MappingStartEvent":
            value, place = self.mapping(start, depth)
        else:
            value, place = self.sequence(start, depth)
        if event.anchor:
            size = before - self.left + 1
            self.anchors[event.anchor] = _Anchor(value, place, size, self.deepest - depth)
        self.deepest = max(deepest, self.deepest)
        return value, place

    def descend(self, event: Event, depth: int) -> None:
        """Count a level that is *depth* levels below the root; an alias may hold many."""
        if depth >= MOST_DEPTH:
            raise self.broken("too-deep", f"nested more than {MOST_DEPTH} levels deep", event)
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
        """The text of a scalar that is text: a key, or a quoted or tagged value."""
        text: str = event.value
        if event.tag is not None and event.tag != _STRING_TAG:
            self.tag(event)
        if bad := _UNUSABLE_ESCAPED.search(text):
            self.report("syntax", f"the character U+{ord(bad[0]):04X} is not allowed", event)
        return text

    def alias(self, event: Event, depth: int) -> tuple[Any, Place]:
        if event.anchor not in self.anchors:
            self.report("alias", f"nothing above is named &{_short(event.anchor)}", event)
            return None, Place(self.origin, *self.marks(event))
        target = self.anchors[event.anchor]
        if target is None:
            self.report("alias", f"*{_short(event.anchor)} stands inside of what it names", event)
            return None, Place(self.origin, *self.marks(event))
        self.left -= target.size - 1
        if self.left < 0:
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
                self.report("key", "a key must be a plain word or a string", event)
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
                message = f'the key "{_short(key)}" is already at line {first[0] + 1}'
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
        """Fold what `<<` names into a mapping; its own keys win, then the earlier named mapping."""
        children = place.children if isinstance(place.children, list) else [place]
        for each, where in zip(value if isinstance(value, list) else [value], children):
            if not isinstance(each, dict) or not isinstance(where.children, dict):
                self.report("merge-key", "<< needs a mapping or a list of mappings", event)
                continue
            self.left -= len(each)
            if self.left < 0:
                raise self.broken("too-large", "merge keys expand to too many values", event)
            for key in each:
                if key not in values and where.keys:
                    values[key], places[key] = each[key], where.children[key]
                    keys[key] = where.keys[key]

    def tag(self, event: Event) -> None:
        self.report("tag", f"the tag {_short(event.tag)} is not allowed", event)

    def report(self, code: str, message: str, event: Event) -> None:
        self.found.append(self.at(code, message, event))

    def broken(self, code: str, message: str, event: Event) -> _Broken:
        return _Broken(self.at(code, message, event))

    def marks(self, event: Event) -> tuple[Mark, Mark]:
        """Where *event* begins and ends; libyaml may put what is missing at the end below it."""
        start, end = event.start_mark, event.end_mark
        if start.line > self.last:
            mark = (self.last, len(_BREAK.split(self.text)[-1]))
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
        if line > self.last:
            line, column = self.last, len(lines[-1])
        if "cannot start any token" in message:
            char = lines[line][column : column + 1]
            message = f"a value cannot begin with {char}; quote it"
            if char == "\t":
                message = "a tab cannot indent; use spaces"
        span = Span(self.origin.source, line + 1, column + 1, column + 2)
        return Diagnostic("syntax", message, span)


def _short(word: str) -> str:
    """*word* in a message, which a hostile file must not make long."""
    return word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…"
