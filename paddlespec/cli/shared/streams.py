"""The standard streams of this process, for a command that runs elsewhere."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 32 * 1024


class StandardStreams:
    """stdin, stdout and stderr; a thread waits for input."""

    def __init__(self, *, terminal: bool) -> None:
        self.terminal = terminal
        self.reads = not (sys.stdin.isatty() and not terminal)
        self._typed: SimpleQueue[bytes | None] = SimpleQueue()
        if self.reads:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while block := os.read(sys.stdin.fileno(), _BLOCK):
                self._typed.put(block)
        except OSError:
            pass
        self._typed.put(None)

    def typed(self) -> bytes | None:
        """New input, b"" if there is none yet, None after its end."""
        try:
            return self._typed.get_nowait()
        except Empty:
            return b""

    def size(self) -> tuple[int, int]:
        """Columns and lines of the terminal."""
        size = os.get_terminal_size(sys.stdout.fileno())
        return size.columns, size.lines

    def show(self, data: bytes, *, error: bool) -> None:
        """Write output at once."""
        out = (sys.stderr if error else sys.stdout).buffer
        out.write(data)
        out.flush()


@contextmanager
def standard_streams() -> Iterator[StandardStreams]:
    """The streams; on a terminal every key goes to the command, including Ctrl-C."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and sys.platform != "win32"
    if not terminal:
        yield StandardStreams(terminal=False)
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin, termios.TCSADRAIN)
    try:
        yield StandardStreams(terminal=True)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
