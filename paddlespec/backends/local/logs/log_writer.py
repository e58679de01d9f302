"""
Write the log of one replica: its output, with the time of every line.

A line is an RFC 3339 time with nine fractional digits, a space, the text and a newline. The newest
file has no number; older ones are `.1`, `.2` and so on, up to a limit. Every file starts with a
time. A full disk loses output but never stops the run: lost bytes are counted, and the log reports
them once it can be written again.
"""

from __future__ import annotations

import os
import time

LARGEST = 64 * 1024 * 1024
FILES = 5
_RETRY_SECONDS = 1.0
_STAMP = 31


class Clock:
    """Times for lines; they never decrease."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self) -> bytes:
        self._last = max(self._last, time.time_ns())
        seconds, fraction = divmod(self._last, 1_000_000_000)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        return f"{moment}.{fraction:09d}Z ".encode()


class LogWriter:
    """Write the log of one replica."""

    def __init__(self, path: str, clock: Clock, largest: int = LARGEST, files: int = FILES) -> None:
        self.path, self.largest, self.files = path, largest, files
        self.lost = 0
        self.problem: str | None = None
        self._clock = clock
        self._unreported = 0
        self._at_start = True
        self._size = 0
        self._fd: int | None = None
        self._next_try = 0.0

    def write(self, chunk: bytes) -> None:
        """Add output; a line may arrive in parts."""
        if not chunk or not self._usable(len(chunk)):
            return
        if self._size + len(chunk) + _STAMP * (1 + chunk.count(b"\n")) > self.largest:
            chunk = self._turn(chunk)
        if chunk:
            stamp = self._clock()
            body = chunk.replace(b"\n", b"\n" + stamp)
            if chunk.endswith(b"\n"):
                body = body[: -len(stamp)]
            self._put(stamp + body if self._at_start else body, len(chunk))

    def say(self, text: str) -> None:
        """Add a message of the supervisor."""
        line = f"paddlespec: {text}\n".encode()
        self.write(line if self._at_start else b"\n" + line)

    def end_line(self) -> None:
        """Finish a line whose writer has ended."""
        if not self._at_start:
            self.write(b"\n")

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _usable(self, size: int) -> bool:
        """Whether the log can be written; after a failure, retry once a second."""
        if self._unreported and time.monotonic() < self._next_try:
            self._lose(size)
            return False
        if self._fd is None and not self._open():
            self._lose(size)
            return False
        if self._unreported:
            text = f"paddlespec: {self._unreported} bytes of output were lost: {self.problem}\n"
            line = (b"" if self._at_start else b"\n") + self._clock() + text.encode()
            if not self._put(line, size):
                return False
            self._unreported = 0
        return True

    def _turn(self, chunk: bytes) -> bytes:
        """Start a new file at the end of a line; a line without end is broken."""
        if not self._at_start:
            end = chunk.find(b"\n") + 1
            head = chunk[:end] if end else b"\n"
            if not self._put(head, len(head)):
                return chunk[end:]
            chunk = chunk[end:]
        self.close()
        for number in range(self.files - 1, 0, -1):
            older = f"{self.path}.{number - 1}" if number > 1 else self.path
            try:
                os.replace(older, f"{self.path}.{number}")
            except OSError:
                continue
        self._open()
        return chunk

    def _open(self) -> bool:
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._fd = os.open(self.path, flags, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            self._fail(error)
            return False
        return True

    def _put(self, data: bytes, worth: int) -> bool:
        """Write *data*, which carries *worth* bytes of output."""
        done = 0
        try:
            while done < len(data) and self._fd is not None:
                done += os.write(self._fd, memoryview(data)[done:])
        except OSError as error:
            self._fail(error)
        self._size += done
        if done:
            self._at_start = data[done - 1 : done] == b"\n"
        if done < len(data):
            self._lose(min(worth, len(data) - done))
        return done == len(data)

    def _lose(self, size: int) -> None:
        self.lost += size
        self._unreported += size

    def _fail(self, error: OSError) -> None:
        self.problem = (error.strerror or "cannot be written").lower()
        self._next_try = time.monotonic() + _RETRY_SECONDS
