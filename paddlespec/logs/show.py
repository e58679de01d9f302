"""Lines as people and programs read them; bytes that go to a program stay as they were written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.logs.line import Line, Source
    from paddlespec.shapes import findings as shapes

_COLORS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
_RESET = b"\x1b[0m"
# Of what a program may send to a terminal only colours stay: anything else would move about among
# the lines of the others.
_CONTROL = re.compile(
    rb"\x1b\[[0-9;:]*m"
    rb"|(\x1b\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~])"
    rb"|([\x00-\x08\x0b-\x1f\x7f])",
    re.DOTALL,
)


class Style(NamedTuple):
    """How lines look; *terminal*: a person sees them as they come."""

    prefix: bool = True
    timestamps: bool = False
    color: bool = False
    terminal: bool = False


class Text:
    """Lines as text, each with the replica that wrote it where the style says so."""

    def __init__(self, sources: Sequence[Source], style: Style) -> None:
        self._style = style
        self._open: Source | None = None  # whose line has no end yet
        self._width = max((len(each.label) for each in sources), default=0)
        self._numbers = {each.label: number for number, each in enumerate(sources)}
        self._prefixes: dict[Source, bytes] = {}

    def of(self, lines: Iterable[Line]) -> bytes:
        """The bytes for *lines*."""
        style = self._style
        screen = style.terminal and style.prefix
        found: list[bytes] = []
        for line in lines:
            text = line.text
            if screen:
                text = seen(text)
            elif style.terminal:
                text = text.decode(errors="replace").encode()
            if self._open is not None:
                found.append(self._going_on(line, continued=not screen))
            else:
                found.append(self._prefix(line.source))
                if style.timestamps:
                    found.append(line.time + b" ")
            found.append(text)
            if line.ended:
                found.append(b"\n")
            else:
                self._open = line.source
        return b"".join(found)

    def end(self) -> bytes:
        """What closes the output: on a terminal, the prompt begins on a line of its own."""
        dangling = self._open is not None and (self._style.prefix or self._style.terminal)
        return b"\n" if dangling else b""

    def _going_on(self, line: Line, *, continued: bool) -> bytes:
        """What stands before *line* while a line has no end: nothing, where it goes on with it."""
        same, self._open = self._open == line.source, None
        if same and continued:
            return b""
        time = line.time + b" " if self._style.timestamps else b""
        # A piece that goes on with what somebody else interrupted begins a line of its own.
        return b"\n" + self._prefix(line.source) + time

    def _prefix(self, source: Source) -> bytes:
        """What stands before the lines of *source*; a pod may come in place of one that failed."""
        if source not in self._prefixes:
            number = self._numbers.setdefault(source.label, len(self._numbers))
            self._prefixes[source] = _prefix(source, self._width, number, self._style)
        return self._prefixes[source]


class Json:
    """Lines as one JSON object each."""

    def of(self, lines: Iterable[Line]) -> bytes:
        """The bytes for *lines*."""
        found = []
        for line in lines:
            source = line.source
            data: shapes.Line = {
                "time": line.time.decode() or None,
                "role": source.role,
                "index": source.replica,
                "name": source.name,
                "text": line.text.decode(errors="replace"),
            }
            if not line.ended:
                data["partial"] = True
            found.append(json.dumps(data, ensure_ascii=False))
        return "".join(f"{each}\n" for each in found).encode()

    def end(self) -> bytes:
        """Nothing: every object is whole."""
        return b""


def seen(text: bytes) -> bytes:
    """
    What a person would see of *text* at the end, on one line.

    A progress bar that was drawn over and over is there once, as it was drawn last.
    """
    text = text.decode(errors="replace").encode()
    if b"\r" in text:
        text = text.rstrip(b"\r")
        text = text[text.rfind(b"\r") + 1 :]
    if not _CONTROL.search(text):
        return text
    text = _CONTROL.sub(_kept, text)
    return text + _RESET if b"\x1b" in text else text


def _kept(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return b""
    return match[0] if match[2] is None else "\N{REPLACEMENT CHARACTER}".encode()


def _prefix(source: Source, width: int, number: int, style: Style) -> bytes:
    if not style.prefix:
        return b""
    text = f"{source.label:<{width}} |"
    if style.color:
        text = f"\x1b[{_COLORS[number % len(_COLORS)]}m{text}\x1b[0m"
    return f"{text} ".encode()
