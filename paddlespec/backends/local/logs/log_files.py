"""
The files of one process's log: `x.log` is the newest, `x.log.1` the one before, and so on.

They may be renamed while they are read, so a file is identified by its inode, not by its name.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.logs.line import time_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

_HIGHEST = 20
_BLOCK = 64 * 1024
_HEAD = 64

Identity = tuple[int, int]


class Place(NamedTuple):
    """An offset in one of the files."""

    file: BinaryIO
    offset: int


def identity(path: str) -> Identity | None:
    """Return the identity of the file that is at *path* now."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def identity_of(file: BinaryIO) -> Identity:
    """Return the identity of an open file, even if it has been renamed."""
    status = os.fstat(file.fileno())
    return (status.st_dev, status.st_ino)


def opened(path: str) -> list[BinaryIO]:
    """
    Open all files of the log at *path*, oldest first.

    Numbers only grow: in this order, a file that is renamed meanwhile is opened twice, but none is
    missed.
    """
    files: dict[Identity, BinaryIO] = {}
    for name in (path, *(f"{path}.{number}" for number in range(1, _HIGHEST + 1))):
        with suppress(FileNotFoundError):
            file = open(name, "rb", buffering=0)  # noqa: SIM115 - its reader closes it
            if files.setdefault(identity_of(file), file) is not file:
                file.close()
    return list(files.values())[::-1]


def tail(files: list[BinaryIO], count: int, matches: Callable[[bytes], object] | None) -> Place:
    """Return where the last *count* matching lines start, reading backwards from the end."""
    if count == 0:
        # Only new lines, but a line that has already begun is shown in full.
        end = files[-1].seek(0, os.SEEK_END)
        files[-1].seek(max(0, end - 1))
        if files[-1].read(1) not in (b"", b"\n"):
            return tail(files, 1, None)
        return Place(files[-1], end)
    left = count
    for file in reversed(files):
        end = file.seek(0, os.SEEK_END)
        step, after, place = _BLOCK, b"", Place(file, end)
        while end > 0 and left:
            begin = max(0, end - step)
            file.seek(begin)
            rows = (_read(file, end - begin) + after).split(b"\n")
            at = begin + sum(map(len, rows)) + len(rows) - 1
            # The first row may begin in the previous block; it is kept until that is read.
            after = rows.pop(0) if begin else b""
            for row in reversed(rows):
                at -= len(row)
                counts = at < place.offset and (matches is None or matches(row))
                if counts:
                    place = Place(file, at)
                    left -= 1
                if left == 0:
                    return place
                at -= 1
            step = _BLOCK if rows else step * 2
            end = begin
    return Place(files[0], 0)


def since(files: list[BinaryIO], time: bytes) -> Place:
    """Return where the lines start that are not older than *time*."""
    for file in files:
        size = file.seek(0, os.SEEK_END)
        offset = _search(file, size, time)
        if offset < size:
            return Place(file, offset)
    return Place(files[-1], files[-1].seek(0, os.SEEK_END))


def later(files: list[BinaryIO], one: Place, other: Place) -> Place:
    """Return the later of two places."""
    if one.file is other.file:
        return max(one, other, key=lambda place: place.offset)
    return max(one, other, key=lambda place: files.index(place.file))


def _search(file: BinaryIO, size: int, time: bytes) -> int:
    """Return the offset of the first line that is not older than *time*, else the size of *file*."""
    low, high = 0, size
    while high - low > _BLOCK:
        middle = (low + high) // 2
        start, first = _timed(file, middle, high)
        if first is None or first >= time:
            high = middle
        else:
            low = start
    while low < size:
        start, first = _timed(file, low, size, whole=True)
        if first is None:
            return low
        if first >= time:
            return start
        following = _line_end(file, start, size)
        if following is None:
            return start  # the line continues, without another time
        low = following
    return size


def _timed(file: BinaryIO, at: int, end: int, *, whole: bool = False) -> tuple[int, bytes | None]:
    """Find the first line with a time at or after *at*; *whole*: a line starts at *at*."""
    start: int | None = at if whole else _line_end(file, at, end)
    while start is not None and start < end:
        file.seek(start)
        if time := time_of(_read(file, _HEAD)):
            return start, time
        start = _line_end(file, start, end)
    return end, None


def _line_end(file: BinaryIO, at: int, end: int) -> int | None:
    """Return where the line after the one at *at* begins."""
    while at < end:
        file.seek(at)
        block = _read(file, min(_BLOCK, end - at))
        if not block:
            return None
        if (end_of_line := block.find(b"\n")) >= 0:
            return at + end_of_line + 1
        at += len(block)
    return None


def _read(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data
