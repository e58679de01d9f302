"""
The files of one process's log: `x.log` is written to, `x.log.1` was before it, and so on.

They are renamed while they are read: a file is known by what it is, not by its name.
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
    """What the file at *path* is at the moment."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def identity_of(file: BinaryIO) -> Identity:
    """What an open file is, whatever its name is by now."""
    found = os.fstat(file.fileno())
    return (found.st_dev, found.st_ino)


def opened(path: str) -> list[BinaryIO]:
    """
    All files of the log at *path*, oldest first.

    Names only ever grow: looked at in this order, a file that moves on meanwhile is seen twice,
    and none is missed.
    """
    found: dict[Identity, BinaryIO] = {}
    for name in (path, *(f"{path}.{number}" for number in range(1, _HIGHEST + 1))):
        with suppress(FileNotFoundError):
            file = open(name, "rb", buffering=0)  # noqa: SIM115 - its reader closes it
            if found.setdefault(identity_of(file), file) is not file:
                file.close()
    return list(found.values())[::-1]


def tail(files: list[BinaryIO], count: int, matches: Callable[[bytes], object] | None) -> Place:
    """Where the last *count* lines begin, of those that match; read from the end only."""
    if count == 0:
        # Only what comes; a line that has begun comes whole.
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
            # A first row that has no beginning here waits for the block before.
            after = rows.pop(0) if begin else b""
            for row in reversed(rows):
                at -= len(row)
                wanted = at < place.offset and (matches is None or matches(row))
                if wanted:
                    place = Place(file, at)
                    left -= 1
                if left == 0:
                    return place
                at -= 1
            step = _BLOCK if rows else step * 2
            end = begin
    return Place(files[0], 0)


def since(files: list[BinaryIO], time: bytes) -> Place:
    """Where the lines begin that are not older than *time*."""
    for file in files:
        size = file.seek(0, os.SEEK_END)
        offset = _search(file, size, time)
        if offset < size:
            return Place(file, offset)
    return Place(files[-1], files[-1].seek(0, os.SEEK_END))


def later(files: list[BinaryIO], one: Place, other: Place) -> Place:
    """Which of two places comes later."""
    if one.file is other.file:
        return max(one, other, key=lambda each: each.offset)
    return max(one, other, key=lambda each: files.index(each.file))


def _search(file: BinaryIO, size: int, time: bytes) -> int:
    """The first line of *file* that is not older than *time*; its size where there is none."""
    low, high = 0, size
    while high - low > _BLOCK:
        middle = (low + high) // 2
        start, found = _timed(file, middle, high)
        if found is None or found >= time:
            high = middle
        else:
            low = start
    while low < size:
        start, found = _timed(file, low, size, whole=True)
        if found is None:
            return low
        if found >= time:
            return start
        following = _line_end(file, start, size)
        if following is None:
            return start  # it goes on, and what comes has no time of its own
        low = following
    return size


def _timed(file: BinaryIO, at: int, end: int, *, whole: bool = False) -> tuple[int, bytes | None]:
    """The first line with a time from *at* on, where *whole* says that a line begins there."""
    start: int | None = at if whole else _line_end(file, at, end)
    while start is not None and start < end:
        file.seek(start)
        if found := time_of(_read(file, _HEAD)):
            return start, found
        start = _line_end(file, start, end)
    return end, None


def _line_end(file: BinaryIO, at: int, end: int) -> int | None:
    """Where the line after the one at *at* begins."""
    while at < end:
        file.seek(at)
        block = _read(file, min(_BLOCK, end - at))
        if not block:
            return None
        if (found := block.find(b"\n")) >= 0:
            return at + found + 1
        at += len(block)
    return None


def _read(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    while len(found) < size and (more := file.read(size - len(found))):
        found += more
    return found
