"""
Split the bytes of a log into lines.

Every line starts with the time when its first byte was written, in the format of `kubectl logs
--timestamps`: RFC 3339 in UTC with 9 fractional digits, and one space. Such times sort as bytes.
"""

from __future__ import annotations

import re
from itertools import accumulate, islice, repeat
from operator import le
from typing import NamedTuple

# Longer lines are split into pieces to bound memory use.
LONGEST = 4 * 1024 * 1024
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
_TEXT = 31


class Source(NamedTuple):
    """The replica that wrote a line; *name* is its process or pod."""

    role: str
    replica: int
    name: str

    @property
    def label(self) -> str:
        """The name of the replica in a prefix, such as `trainer-3`."""
        return f"{self.role.removesuffix('s')}-{self.replica}"


class Line(NamedTuple):
    """
    One line without its line break, or a piece of a line if `ended` is false.

    `order` is the sort key across sources. It is the time, unless the clock was set back: lines of
    one source never change their order.
    """

    order: bytes
    source: Source
    text: bytes
    time: bytes
    ended: bool = True


def time_of(row: bytes) -> bytes | None:
    """Return the time at the start of a line, if it has one."""
    return row[: _TEXT - 1] if _TIME.match(row) and row[_TEXT - 1 : _TEXT] == b" " else None


class Splitter:
    """Split the bytes of one source into lines; blocks may end anywhere."""

    def __init__(self, source: Source, longest: int = LONGEST) -> None:
        self._source, self._longest = source, longest
        self._parts: list[bytes] = []
        self._size = 0
        self._order = self._time = b""
        self._continues = False

    @property
    def is_partial(self) -> bool:
        """Whether the last line is incomplete."""
        return self._size > 0 or self._continues

    def feed(self, block: bytes) -> list[Line]:
        """Return the lines that *block* completes."""
        end = block.rfind(b"\n")
        if end < 0:
            self._keep(block)
            return self.piece() if self._size > self._longest else []
        rows = b"".join((*self._parts, block[:end])).split(b"\n")
        self._parts, self._size = [], 0
        self._keep(block[end + 1 :])
        lines = []
        if self._continues:
            self._continues = False
            lines.append(self._line(rows.pop(0)))
        if rows:
            lines += self._lines(rows)
        return lines

    def piece(self) -> list[Line]:
        """Return the incomplete line as a piece, if it has any text; later lines continue it."""
        row = b"".join(self._parts)
        if not self._continues:
            if len(row) <= _TEXT:
                return []
            (line,) = self._lines([row])
        elif row:
            line = self._line(row)
        else:
            return []
        self._parts, self._size, self._continues = [], 0, True
        return [line._replace(ended=False)]

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._parts.append(rest)
            self._size += len(rest)

    def _line(self, text: bytes) -> Line:
        return Line(self._order, self._source, text, self._time)

    def _lines(self, rows: list[bytes]) -> list[Line]:
        if {row[_TEXT - 2 : _TEXT] for row in rows} != {b"Z "}:
            return [self._foreign(row) for row in rows]
        times = [row[: _TEXT - 1] for row in rows]
        texts = [row[_TEXT:] for row in rows]
        orders = times
        if times[0] < self._order or not all(map(le, times, islice(times, 1, None))):
            orders = list(accumulate((self._order, *times), max))[1:]
        self._order, self._time = orders[-1], times[-1]
        columns = zip(orders, repeat(self._source), texts, times, repeat(True))
        return list(map(Line._make, columns))

    def _foreign(self, row: bytes) -> Line:
        """Return a line that may lack a time, as in a damaged file; it keeps its position."""
        time = time_of(row)
        if time is None:
            return self._line(row)
        self._order, self._time = max(self._order, time), time
        return self._line(row[_TEXT:])
