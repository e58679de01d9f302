"""
The line of a source that a finding is about, with its stretch underlined.

What must not be shown is hidden: of the variables in a shown line, every value except the one in
question, and that too when it is secret.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.document import Mark, Place, walk
from paddlespec.report.mask import LOOKS_SECRET, MASK, NAMES, parameters, pattern
from paddlespec.report.width import cells, fitting, plain
from paddlespec.source import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.diagnostic import Diagnostic, Span

_BREAK = re.compile("\r\n?|\n")
_WIDEST = 100
_TAB = "    "
_BEFORE = 30
_ENV = re.compile(r"\b(env\w*|sensitive)[\"']?\s*:")
# What leaves a part of the text out of the document.
_BROKEN = frozenset(("syntax", "too-large", "too-deep", "encoding", "duplicate-key", "key"))


class _Value(NamedTuple):
    """The stretch of a scalar that belongs to a variable or parameter, and whether it is secret."""

    start: Mark
    end: Mark
    secret: bool


class Excerpts:
    """The sources of one report; each is read only when a finding needs it."""

    def __init__(self, texts: Mapping[str, str], found: Sequence[Diagnostic]) -> None:
        self._texts = texts
        self._found = found
        self._sources: dict[str, _Source] = {}
        self._tainted: set[str] | None = None

    def of(self, diagnostic: Diagnostic) -> tuple[str, str, str] | None:
        """The gutter, the line and the underline of a finding; nothing where there is no line."""
        span = diagnostic.span
        if not span.line or span.file not in self._texts:
            return None
        source = self._source(span.file)
        if span.line > len(source.lines):
            return None
        line, start, end = source.shown(span)
        gutter = f"{span.line:>5}"
        return gutter, *_cut(line, start, end)

    def _source(self, name: str) -> _Source:
        if name not in self._sources:
            if self._tainted is None:
                self._tainted = {
                    each for text in self._texts.values() for each in _feeding_secrets(text)
                }
            spans = [
                each.span
                for each in self._found
                if each.code == LOOKS_SECRET and each.span.file == name and each.span.line
            ]
            self._sources[name] = _Source(self._texts[name], self._tainted, spans)
        return self._sources[name]


class _Source:
    """One text by lines, and the stretches of it that may have to be hidden."""

    def __init__(self, text: str, tainted: set[str], secrets: Sequence[Span]) -> None:
        self.lines = _BREAK.split(text)
        reading = read(text, "")
        self._broken = any(each.code in _BROKEN for each in reading.diagnostics)
        self._values = [
            each for document in reading.documents for each in _values(*document, tainted)
        ]
        self._values += [
            _Value((each.line - 1, each.column - 1), (each.line - 1, each.end_column - 1), True)
            for each in secrets
        ]
        self._texts = pattern(self._part(each) for each in self._values if each.secret)

    def shown(self, span: Span) -> tuple[str, int, int]:
        """The line of *span* without secrets, and the stretch of *span* in it, from 0."""
        index = span.line - 1
        line = self.lines[index]
        start = min(span.column - 1, len(line))
        end = max(start, min(span.end_column - 1, len(line)))
        if self._broken and self._is_variable(index):
            return _behind_colon(line, start)
        hidden = [
            (first, last)
            for first, last, secret in self._stretches(index)
            if secret or not first <= start < last
        ]
        for first, last in reversed(_joined(hidden)):
            line = line[:first] + MASK + line[last:]
            start, end = (_moved(each, first, last) for each in (start, end))
        if self._texts and self._texts.search(line):
            return self._texts.sub(MASK, line), 0, len(MASK)
        return line, start, end

    def _stretches(self, index: int) -> Iterator[tuple[int, int, bool]]:
        """The values in one line: first and last column, and whether they are secret."""
        found: dict[tuple[int, int], bool] = {}
        for start, end, secret in self._values:
            if start[0] <= index <= end[0]:
                first = start[1] if start[0] == index else 0
                last = end[1] if end[0] == index else len(self.lines[index])
                if last > first:
                    found[first, last] = secret or found.get((first, last), False)
        for (first, last), secret in found.items():
            yield first, last, secret

    def _part(self, value: _Value) -> str:
        """The text of a value that stands in one line, without its quotes."""
        (first, start), (last, end) = value.start, value.end
        if first != last or first >= len(self.lines):
            return ""
        return self.lines[first][start:end].strip("\"'")

    def _is_variable(self, index: int) -> bool:
        """Whether a line of a text that cannot be read may belong to a variable."""
        depth = len(self.lines[index]) + 1
        for line in self.lines[index::-1]:
            indent = len(line) - len(line.lstrip())
            if line.strip() and indent < depth:
                depth = indent
                if _ENV.search(line):
                    return True
        above = "\n".join(self.lines[:index])
        return any(_is_open(above[match.end() :]) for match in _ENV.finditer(above))


def _values(data: Any, place: Place, tainted: set[str]) -> Iterator[_Value]:
    """
    The scalars of all variables and of the parameters called *tainted*, wherever they stand.

    A key that begins like `env` is taken for a misspelt one.
    """
    if isinstance(data, list):
        for index, each in enumerate(data):
            yield from _below(each, place.child(index), tainted)
    if not isinstance(data, dict):
        return
    for key, each in data.items():
        child = place.child(key)
        if child and key.startswith("env") and isinstance(each, dict):
            for name, value in each.items():
                yield from _variable(value, child.child(name))
        elif child and key == "parameters" and isinstance(each, dict):
            for name in tainted & each.keys():
                yield from _scalars(each[name], child.child(name), secret=True)
        else:
            yield from _below(each, child, tainted)


def _below(data: Any, place: Place | None, tainted: set[str]) -> Iterator[_Value]:
    if place:
        yield from _values(data, place, tainted)


def _variable(value: Any, place: Place | None) -> Iterator[_Value]:
    if not isinstance(value, dict):
        yield from _scalars(value, place, secret=False)
        return
    secret = bool(value.get("sensitive"))
    for key, each in value.items():
        if place and key not in NAMES:
            yield from _scalars(each, place.child(key), secret=secret)


def _scalars(data: Any, place: Place | None, *, secret: bool) -> Iterator[_Value]:
    for path, _ in walk(data):
        found = place
        for part in path:
            found = found.child(part) if found else None
        if found and found.end:
            yield _Value(found.start, found.end, secret)


def _feeding_secrets(text: str) -> Iterator[str]:
    """The parameters that the secrets of *text* are made of."""
    if "sensitive" not in text:
        return
    for document in read(text, "").documents:
        for path, value in walk(document.data):
            is_value = isinstance(value, str) and path[-1:] == ("value",)
            if is_value and document.at((*path[:-1], "sensitive")):
                yield from parameters(value)


def _behind_colon(line: str, start: int) -> tuple[str, int, int]:
    head, colon, _ = line.partition(":")
    shown = f"{head}{colon} {MASK}"
    return (shown, start, start + 1) if start <= len(head) else (shown, len(head) + 2, len(shown))


def _is_open(text: str) -> bool:
    """Whether a flow collection that began in *text* goes on after it."""
    return sum((each in "{[") - (each in "}]") for each in text) > 0


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """*stretches* in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(stretches):
        if found and first < found[-1][1]:
            first, last = found[-1][0], max(last, found.pop()[1])
        found.append((first, last))
    return found


def _moved(column: int, first: int, last: int) -> int:
    """Where *column* is once the stretch from *first* to *last* became the mask."""
    if column >= last:
        return column + len(MASK) - (last - first)
    return min(first, column)


def _cut(line: str, start: int, end: int) -> tuple[str, str]:
    """*line* as a terminal can show it, around its stretch, and the underline of that."""
    before, word, after = (
        "".join(_TAB if each == "\t" else plain(each) for each in part)
        for part in (line[:start], line[start:end], line[end:])
    )
    if cells(before + word + after) > _WIDEST:
        if cells(before) > _BEFORE:
            before = "…" + fitting(before[::-1], _BEFORE)[::-1]
        room = _WIDEST - cells(before) - 1
        if cells(word) > room:
            word, after = fitting(word, room), "…"
        elif cells(word + after) > room:
            after = fitting(after, room - cells(word)) + "…"
    marker = "^" + "~" * (cells(word) - 1)
    return before + word + after, " " * cells(before) + marker
