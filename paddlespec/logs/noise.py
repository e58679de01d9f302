"""Recognize lines that Paddle's launcher and libraries write around the output of a program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.logs.line import Line, Source
    from paddlespec.logs.show import Text

# Warnings and errors are not noise, nor is a launcher that waits for others.
_NOISE = re.compile(
    rb"LAUNCH INFO (?!.*(?:[Ww]aiting|not ready|ERROR LOG DETAIL))"
    rb"|LAUNCH WARNING args \w+ will be overridden by env"
    rb"|\S+/extension_utils\.py:\d+: UserWarning: No ccache found"
    rb"|  warnings\.warn\(warning_message\)\s*\Z"
    # Flags that differ from their defaults, in a frame.
    rb"|=+ Modified FLAGS detected =+\s*\Z|FLAGS\(name='FLAGS_|={71}\s*\Z"
    rb"|\[[\d-]+ [\d:,]+\] \[ *INFO\] "
    rb"|(?:\S+ )*INFO\S* .*HTTP Request: "
    # glog: severity, date, time, thread, file and line.
    rb"|I\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] "
)


def is_noise(text: bytes) -> bool:
    """Report whether a line is neither of the program nor a problem."""
    return _NOISE.match(text) is not None


class Folded:
    """Format lines without noise, for a terminal; the last line counts what is hidden."""

    def __init__(self, form: Text, remedy: str) -> None:
        self._form, self._remedy = form, remedy
        self._hidden = 0
        self._open: dict[Source, bool] = {}  # lines that have begun, and whether they are hidden

    def of(self, lines: Iterable[Line]) -> bytes:
        """Format *lines*."""
        return self._form.of([line for line in lines if not self._hides(line)])

    def end(self) -> bytes:
        """End an incomplete line, and say how many lines are hidden."""
        if not self._hidden:
            return self._form.end()
        count = f"{self._hidden:,} line{'' if self._hidden == 1 else 's'}"
        note = f"({count} of Paddle's launcher and libraries hidden; {self._remedy})\n"
        return self._form.end() + note.encode()

    def _hides(self, line: Line) -> bool:
        begun = self._open.pop(line.source, None)
        hidden = is_noise(line.text) if begun is None else begun
        if not line.ended:
            self._open[line.source] = hidden
        self._hidden += hidden and line.ended
        return hidden
