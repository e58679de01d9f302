"""Format log lines for people and programs; programs get the original bytes."""

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
# Of all escape sequences only colors are kept: others would overwrite lines of other replicas.
_CONTROL = re.compile(
    rb"\x1b\[[0-9;:]*m"
    rb"|(\x1b\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~])"
    rb"|([\x00-\x08\x0b-\x1f\x7f])",
    re.DOTALL,
)


class Style(NamedTuple):
    """
    How lines look; *terminal* is for lines shown live to a person.

    A *job* is named before the replica.
    """

    prefix: bool = True
    timestamps: bool = False
    color: bool = False
    terminal: bool = False
    job: str = ""


class Text:
    """Format lines as text, with the replica as a prefix if the style has one."""

    def __init__(self, sources: Sequence[Source], style: Style) -> None:
        self._style = style
        self._open: Source | None = None  # whose line has no end yet
        self._width = max((len(source.label) for source in sources), default=0)
        self._numbers = {source.label: number for number, source in enumerate(sources)}
        self._prefixes: dict[Source, bytes] = {}

    def of(self, lines: Iterable[Line]) -> bytes:
        """Format *lines*."""
        style = self._style
        screen = style.terminal and style.prefix
        parts: list[bytes] = []
        for line in lines:
            text = line.text
            if screen:
                text = seen(text)
            elif style.terminal:
                text = text.decode(errors="replace").encode()
            if self._open is not None:
                parts.append(self._going_on(line, continued=not screen))
            else:
                parts.append(self._prefix(line.source))
                if style.timestamps:
                    parts.append(line.time + b" ")
            parts.append(text)
            if line.ended:
                parts.append(b"\n")
            else:
                self._open = line.source
        return b"".join(parts)

    def end(self) -> bytes:
        """End an incomplete line, so that the prompt of a terminal starts on its own line."""
        dangling = self._open is not None and (self._style.prefix or self._style.terminal)
        return b"\n" if dangling else b""

    def _going_on(self, line: Line, *, continued: bool) -> bytes:
        """Return the text before *line* after an incomplete one; empty if it continues that line."""
        same, self._open = self._open == line.source, None
        if same and continued:
            return b""
        time = line.time + b" " if self._style.timestamps else b""
        # A piece that continues a line interrupted by another replica starts a new line.
        return b"\n" + self._prefix(line.source) + time

    def _prefix(self, source: Source) -> bytes:
        """Return the prefix for *source*; a new pod may replace a failed one."""
        if source not in self._prefixes:
            number = self._numbers.setdefault(source.label, len(self._numbers))
            self._prefixes[source] = _prefix(source, self._width, number, self._style)
        return self._prefixes[source]


class Json:
    """Format each line as one JSON object."""

    def of(self, lines: Iterable[Line]) -> bytes:
        """Format *lines*."""
        rows = []
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
            rows.append(json.dumps(data, ensure_ascii=False))
        return "".join(f"{row}\n" for row in rows).encode()

    def end(self) -> bytes:
        """Return nothing, because every object is complete."""
        return b""


def seen(text: bytes) -> bytes:
    """
    Return what a terminal would finally show of *text*, on one line.

    A progress bar that was redrawn appears once, in its last state.
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
    job = f"{style.job}/" if style.job else ""
    text = f"{job}{source.label:<{width}} |"
    if style.color:
        text = f"\x1b[{_COLORS[number % len(_COLORS)]}m{text}\x1b[0m"
    return f"{text} ".encode()
