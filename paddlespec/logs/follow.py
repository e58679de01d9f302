"""Write logs to a stream as they arrive."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from paddlespec.logs.merge import merged

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable
    from typing import BinaryIO

    from paddlespec.logs.line import Line
    from paddlespec.logs.merge import Logs

_POLL_SECONDS = 0.1


class Form(Protocol):
    """A format that turns lines into bytes."""

    def of(self, lines: Iterable[Line]) -> bytes:
        """Format *lines*."""

    def end(self) -> bytes:
        """Return what follows the last line."""


def show(
    logs: Logs,
    form: Form,
    out: BinaryIO,
    *,
    follow: bool = False,
    grep: re.Pattern[bytes] | None = None,
) -> None:
    """
    Write *logs* to *out* as they arrive; *grep* selects lines.

    Raises `BrokenPipeError` when the reader of *out* has gone, even while there are no lines.
    """
    pause = Pause(out)
    try:
        for lines in merged(logs, follow=follow, wait=pause):
            if grep is not None:
                lines = [line for line in lines if grep.search(line.text)]
            if lines:
                out.write(form.of(lines))
                out.flush()
        out.write(form.end())
        out.flush()
    finally:
        for reader in logs.readers():
            reader.close()


class Rows:
    """Write bytes as whole lines, only those that match *grep*, as they arrive."""

    def __init__(self, out: BinaryIO, grep: re.Pattern[bytes] | None = None) -> None:
        self._out, self._grep = out, grep
        self._rest = b""

    def write(self, data: bytes) -> None:
        """Write the lines that *data* completes."""
        *rows, self._rest = (self._rest + data).split(b"\n")
        shown = [row + b"\n" for row in rows if self._grep is None or self._grep.search(row)]
        if shown:
            self._out.writelines(shown)
            self._out.flush()

    def end(self) -> None:
        """Write the incomplete last line."""
        if self._rest:
            self.write(b"\n")


class Pause:
    """Wait briefly, unless the reader at the other end of a pipe has gone."""

    def __init__(self, out: BinaryIO) -> None:
        import select

        self._poll = None
        if hasattr(select, "poll"):
            try:
                descriptor = out.fileno()
            except (OSError, ValueError):
                return  # not a file descriptor, so there is no reader that can go
            self._poll = select.poll()
            self._poll.register(descriptor, 0)
            self._gone = select.POLLERR | select.POLLHUP

    def __call__(self) -> None:
        if self._poll is None:
            time.sleep(_POLL_SECONDS)
        elif any(events & self._gone for _, events in self._poll.poll(_POLL_SECONDS * 1000)):
            raise BrokenPipeError
