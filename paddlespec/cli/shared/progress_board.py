"""Progress of many jobs: plain lines, or on a terminal one line per job, redrawn in place."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from paddlespec.runs.values import Progress

_ERASE = "\x1b[2K"
_GREEN, _YELLOW, _PLAIN = "\x1b[32m", "\x1b[33m", "\x1b[0m"


class Board:
    """
    What each job does at the moment; `clear` it before printing anything else.

    `moves`: lines are overwritten, which only a terminal can do.
    """

    def __init__(self, stream: TextIO, *, quiet: bool, moves: bool, color: bool) -> None:
        self.stream, self.quiet, self.moves, self.color = stream, quiet, moves, color
        self.last: dict[str, str] = {}
        self._open: dict[str, Progress] = {}
        self._height = 0

    def show(self, name: str, progress: Progress) -> None:
        """Take the progress of a job; one that is done gets its last line."""
        same = self.last.get(name) == progress.message
        self.last[name] = progress.message
        if self.quiet:
            return
        if not self.moves:
            if not same:
                self.stream.write(f"{self._text(name, progress)}\n")
                self.stream.flush()
            return
        self._open[name] = progress
        if progress.done:
            self.clear()
            self.stream.write(f"{self._line(name, 10_000)}\n")
            del self._open[name]

    def drop(self, name: str) -> None:
        """Forget a job whose end is reported elsewhere."""
        self._open.pop(name, None)
        self.clear()

    def paint(self) -> None:
        """Draw all jobs under way, as many as fit."""
        if not self.moves or self.quiet:
            return
        columns, rows = shutil.get_terminal_size()
        room = max(1, rows - 2)
        shown = list(self._open)[:room]
        lines = [self._line(name, columns - 1) for name in shown]
        if len(self._open) > room:
            lines.append(f"... and {len(self._open) - room} more"[: columns - 1])
        self.clear()
        self.stream.write("".join(f"{line}\n" for line in lines))
        self.stream.flush()
        self._height = len(lines)

    def clear(self) -> None:
        """Erase what was drawn."""
        if self._height:
            self.stream.write(f"\x1b[1A{_ERASE}" * self._height + "\r")
            self.stream.flush()
            self._height = 0

    @staticmethod
    def _text(name: str, progress: Progress) -> str:
        from paddlespec.report.width import visible

        return visible(f"{name}: {progress.message}")

    def _line(self, name: str, width: int) -> str:
        progress = self._open[name]
        text = self._text(name, progress)
        if len(text) > width:
            text = f"{text[: max(0, width - 1)]}…"
        if not self.color or not (progress.done or not progress.ok):
            return text
        return f"{_GREEN if progress.ok else _YELLOW}{text}{_PLAIN}"


def board(*, quiet: bool, no_color: bool, alone: bool) -> Board:
    """The board for stderr; *alone*: nothing else is printed meanwhile."""
    from paddlespec.cli.shared.session import colored

    moves = alone and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    color = colored(sys.stderr, no_color=no_color)
    return Board(sys.stderr, quiet=quiet, moves=moves, color=color)
