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
    from yaml.events import Event

MOST_BYTES = 4 << 20
MOST_NODES = 100_000
MOST_DEPTH = 64
_STRING_TAG = "tag:yaml.org,2002:str"
_UNPRINTABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # a platform without libyaml: the same events, slower

    class _Parser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):  # type: ignore[no-redef]
        def __init__(self, stream: str) -> None:
            yaml.reader.Reader.__init__(self, stream)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)


class Reading(NamedTuple):
    """What a stream held: its documents, and what was wrong with it."""

    documents: list[Document]
    diagnostics: list[Diagnostic]


def read(content: bytes | str, name: str, layer: str = "spec") -> Reading:
    """Read every document of *content*; *name* stands in spans, *layer* in origins."""
    if len(content) > MOST_BYTES:
        return Reading([], [_whole(name, "too-large", f"more than {MOST_BYTES >> 20} MiB")])
    try:
        text = content if isinstance(content, str) else _decode(content)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        span = Span(name, line, column, column + 1)
        return Reading([], [Diagnostic("encoding", "not valid UTF-8 text", span)])
    if bad := _UNPRINTABLE.search(text):
        before = text[: bad.start()]
        line, column = before.count("\n") + 1, bad.start() - before.rfind("\n")
        message = f"the character U+{ord(bad[0]):04X} is not allowed in YAML"
        return Reading([], [Diagnostic("syntax", message, Span(name, line, column, column + 1))])
    return _Composer(text, Origin(layer, name, text)).stream()


def _decode(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")


def _whole(name: str, code: str, message: str) -> Diagnostic:
    return Diagnostic(code, message, Span(name))


class _Broken(Exception):
    """The stream cannot be read any further."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _Composer:
    """Builds values and places from events; every node is counted, an alias with its whole size."""

    def __init__(self, text: str, origin: Origin) -> None:
        self.origin = origin
        self.text = text
        self.found: list[Diagnostic] = []
        self.left = MOST_NODES

    def stream(self) -> Reading:
        documents = []
        try:
            self.next = _Parser(self.text).get_event
            self.next()
            while not isinstance(self.next(), StreamEndEvent):
                self.anchors: dict[str, tuple[Any, Place, int] | None] = {}
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
        start: Mark = (event.start_mark.line, event.start_mark.column)
        if self.left < 0:
            raise self.broken("too-large", "the document expands to too many values", event)
        if type(event) is ScalarEvent:
            return self.scalar(event, start)
        if type(event) is AliasEvent:
            return self.alias(event, start)
        if depth >= MOST_DEPTH:
            raise self.broken("too-deep", f"nested more than {MOST_DEPTH} levels deep", event)
        if event.tag is not None:
            self.report("tag", f"the tag {event.tag} is not allowed", event)
        if event.anchor:
            self.anchors[event.anchor] = None
        before = self.left
        if type(event).__name__ == "MappingStartEvent":
            value, place = self.mapping(start, depth)
        else:
            value, place = self.sequence(start, depth)
        if event.anchor:
            self.anchors[event.anchor] = (value, place, before - self.left)
        return value, place

    def scalar(self, event: ScalarEvent, start: Mark) -> tuple[Any, Place]:
        value = event.value
        if event.tag is not None and event.tag != _STRING_TAG:
            self.report("tag", f"the tag {event.tag} is not allowed", event)
        elif event.tag is None and event.implicit[0]:
            try:
                value = plain(value)
            except UnusableNumber as error:
                self.report("number", str(error), event)
        elif "\0" in value:
            self.report("syntax", "the character U+0000 is not allowed", event)
        end = event.end_mark
        place = Place(self.origin, start, (end.line, end.column))
        if event.anchor:
            self.anchors[event.anchor] = (value, place, 1)
        return value, place

    def alias(self, event: AliasEvent, start: Mark) -> tuple[Any, Place]:
        end: Mark = (event.end_mark.line, event.end_mark.column)
        if event.anchor not in self.anchors:
            self.report("alias", f"nothing above is named &{event.anchor}", event)
            return None, Place(self.origin, start, end)
        target = self.anchors[event.anchor]
        if target is None:
            self.report("alias", f"*{event.anchor} stands inside of what it names", event)
            return None, Place(self.origin, start, end)
        value, place, size = target
        self.left -= size
        if self.left < 0:
            raise self.broken("too-large", "aliases expand to too many values", event)
        return value, place

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
            key = event.value
            value, place = self.node(self.next(), depth + 1)
            if key == "<<" and event.implicit[0]:
                merged.append((value, place, event))
                continue
            mark, end = event.start_mark, event.end_mark
            if key in values:
                first = keys[key][0]
                message = f'the key "{key}" is already at line {first[0] + 1}, column {first[1] + 1}'
                self.report("duplicate-key", message, event)
                continue
            values[key], places[key] = value, place
            keys[key] = ((mark.line, mark.column), (end.line, end.column))
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

    def report(self, code: str, message: str, event: Event) -> None:
        self.found.append(self.at(code, message, event))

    def broken(self, code: str, message: str, event: Event) -> _Broken:
        return _Broken(self.at(code, message, event))

    def at(self, code: str, message: str, event: Event) -> Diagnostic:
        start, end = event.start_mark, event.end_mark
        last = end.column if end.line == start.line and end.column > start.column else start.column + 1
        span = Span(self.origin.source, start.line + 1, start.column + 1, last + 1)
        return Diagnostic(code, message, span)

    def syntax(self, error: yaml.MarkedYAMLError) -> Diagnostic:
        mark = error.problem_mark or error.context_mark
        message = error.problem or error.context or "not valid YAML"
        if "\t" in message or "cannot start any token" in message:
            message = f"{message}; YAML is not indented with tabs"
        line, column = (mark.line, mark.column) if mark else (0, 0)
        span = Span(self.origin.source, line + 1, column + 1, column + 2)
        return Diagnostic("syntax", message, span)
