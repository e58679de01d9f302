"""
Show the line of a source that a finding is about, with the position underlined.

Values of variables in that line are hidden, except the one the finding is about, and that one too
if it is secret.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.report.mask import (
    LOOKS_SECRET,
    MASK,
    NAMES,
    parameters,
    pattern,
)
from paddlespec.report.width import beginning, cells, ending, plain
from paddlespec.spec.document import Mark, Place, walk
from paddlespec.spec.source import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.diagnostic import Diagnostic, Span

_BREAK = re.compile("\r\n?|\n")
_WIDEST = 100
_TAB = "    "
_BEFORE = 30
_ENV = re.compile(r"\b(env\w*|sensitive)[\"']?\s*:")
# Findings after which a part of the text is missing in the document.
_BROKEN = frozenset(("syntax", "too-large", "too-deep", "encoding", "duplicate-key", "key"))


class _Value(NamedTuple):
    """The range of a scalar of a variable or parameter, and whether it is secret."""

    start: Mark
    end: Mark
    secret: bool


class Excerpts:
    """The sources of one report; a source is parsed only when a finding needs it."""

    def __init__(self, texts: Mapping[str, str], findings: Sequence[Diagnostic]) -> None:
        self._texts = texts
        self._findings = findings
        self._sources: dict[str, _Source] = {}
        self._tainted: set[str] | None = None

    def of(self, diagnostic: Diagnostic) -> tuple[str, str, str] | None:
        """Return the gutter, the line and the underline of a finding; None without a line."""
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
                    name for text in self._texts.values() for name in _feeding_secrets(text)
                }
            spans = [
                finding.span
                for finding in self._findings
                if finding.code == LOOKS_SECRET and finding.span.file == name and finding.span.line
            ]
            self._sources[name] = _Source(self._texts[name], self._tainted, spans)
        return self._sources[name]


class _Source:
    """The lines of one text, and the ranges that may have to be hidden."""

    def __init__(self, text: str, tainted: set[str], secrets: Sequence[Span]) -> None:
        self.lines = _BREAK.split(text)
        reading = read(text, "")
        self._broken = any(finding.code in _BROKEN for finding in reading.diagnostics)
        self._values = [
            value for document in reading.documents for value in _values(*document, tainted)
        ]
        self._values += [
            _Value(
                (secret.line - 1, secret.column - 1), (secret.line - 1, secret.end_column - 1), True
            )
            for secret in secrets
        ]
        self._texts = pattern(self._part(value) for value in self._values if value.secret)

    def shown(self, span: Span) -> tuple[str, int, int]:
        """Return the line of *span* without secrets, and the range of *span* in it, from 0."""
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
            start, end = (_moved(column, first, last) for column in (start, end))
        if self._texts and self._texts.search(line):
            return self._texts.sub(MASK, line), 0, len(MASK)
        return line, start, end

    def _stretches(self, index: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the values in one line: first and last column, and whether they are secret."""
        values: dict[tuple[int, int], bool] = {}
        for start, end, secret in self._values:
            if start[0] <= index <= end[0]:
                first = start[1] if start[0] == index else 0
                last = end[1] if end[0] == index else len(self.lines[index])
                if last > first:
                    values[first, last] = secret or values.get((first, last), False)
        for (first, last), secret in values.items():
            yield first, last, secret

    def _part(self, value: _Value) -> str:
        """Return the text of a value on a single line, without its quotes."""
        (first, start), (last, end) = value.start, value.end
        if first != last or first >= len(self.lines):
            return ""
        return self.lines[first][start:end].strip("\"'")

    def _is_variable(self, index: int) -> bool:
        """Report whether a line of an unparsable text may belong to a variable."""
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
    Yield the scalars of all variables and of the parameters in *tainted*.

    A key that starts with `env` is treated as a misspelled `env`.
    """
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield from _below(item, place.child(index), tainted)
    if not isinstance(data, dict):
        return
    for key, item in data.items():
        child = place.child(key)
        if child and key.startswith("env") and isinstance(item, dict):
            for name, value in item.items():
                yield from _variable(value, child.child(name))
        elif child and key == "parameters" and isinstance(item, dict):
            for name in tainted & item.keys():
                yield from _scalars(item[name], child.child(name), secret=True)
        else:
            yield from _below(item, child, tainted)


def _below(data: Any, place: Place | None, tainted: set[str]) -> Iterator[_Value]:
    if place:
        yield from _values(data, place, tainted)


def _variable(value: Any, place: Place | None) -> Iterator[_Value]:
    if not isinstance(value, dict):
        yield from _scalars(value, place, secret=False)
        return
    secret = bool(value.get("sensitive"))
    for key, item in value.items():
        if place and key not in NAMES:
            yield from _scalars(item, place.child(key), secret=secret)


def _scalars(data: Any, place: Place | None, *, secret: bool) -> Iterator[_Value]:
    for path, _ in walk(data):
        position = place
        for part in path:
            position = position.child(part) if position else None
        if position and position.end:
            yield _Value(position.start, position.end, secret)


def _feeding_secrets(text: str) -> Iterator[str]:
    """Yield the parameters that the secrets of *text* consist of."""
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
    """Report whether a flow collection that starts in *text* continues after it."""
    return sum((char in "{[") - (char in "}]") for char in text) > 0


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort *stretches* and merge overlapping ones."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(stretches):
        if joined and first < joined[-1][1]:
            first, last = joined[-1][0], max(last, joined.pop()[1])
        joined.append((first, last))
    return joined


def _moved(column: int, first: int, last: int) -> int:
    """Return the position of *column* after the range from *first* to *last* was masked."""
    if column >= last:
        return column + len(MASK) - (last - first)
    return min(first, column)


def _cut(line: str, start: int, end: int) -> tuple[str, str]:
    """Cut *line* to the width of a terminal, and return it with the underline."""
    before, word, after = (
        "".join(_TAB if char == "\t" else plain(char) for char in part)
        for part in (line[:start], line[start:end], line[end:])
    )
    if cells(before + word + after) > _WIDEST:
        if cells(before) > _BEFORE:
            before = "…" + ending(before, _BEFORE)
        room = _WIDEST - cells(before) - 1
        if cells(word) > room:
            word, after = beginning(word, room), "…"
        elif cells(word + after) > room:
            after = beginning(after, room - cells(word)) + "…"
    marker = "^" + "~" * (cells(word) - 1)
    return before + word + after, " " * cells(before) + marker
