"""
The log of a pod, over connections that drop.

Its lines come from the kubelet with their times. After a drop the log is asked for again from at
least a second before the last line: times are not unique, two streams of one container may be
a little out of order, and the server counts in whole seconds. Lines that were told already are
left out, by time and text. What the kubelet has rotated away meanwhile nobody can read: it is told.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from queue import Empty, Queue
from typing import TYPE_CHECKING, Protocol

from paddlespec.backend import OperationFailed
from paddlespec.logs.line import LONGEST, Splitter, time_of
from paddlespec.logs.merge import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.logs.line import Line, Source

_WAITING = 8  # batches that are read and not told yet
_SECONDS = 19  # of a time, without its fraction
_ZONED = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
_PAUSES = (0.1, 0.5, 1.0, 2.0, 5.0)


class Connect(Protocol):
    """
    Ask for a log with times, from *since* (RFC 3339, whole seconds) on.

    Blocks come as they arrive, until the log ends or, without *follow*, until all that is there
    was sent. Raises `OperationFailed` when the connection drops or is refused.
    """

    def __call__(self, since: str | None, *, follow: bool) -> Iterable[bytes]: ...


class Deduplication:
    """The lines of one pod, each once, however often the log is asked for again."""

    def __init__(self, since: str | None = None) -> None:
        self._first = since
        self._last: bytes | None = None
        self._seen: dict[bytes, Counter[int]] = {}
        self._again: Counter[int] = Counter()
        self._overlaps = True

    def since(self) -> str | None:
        """From where to ask again."""
        if self._last is None:
            return self._first
        return f"{_second_before(self._last[:_SECONDS]).decode()}Z"

    def reconnected(self) -> None:
        """Begin to expect again the lines that were there."""
        self._again = sum(self._seen.values(), Counter())
        self._overlaps = not self._again

    def new(self, rows: Iterable[bytes]) -> tuple[list[bytes], bool]:
        """Those of *rows* that were not there yet; whether any may be missing before them."""
        found, lost = [], False
        for row in rows:
            key = hash(row)
            if self._again[key] > 0:
                self._again[key] -= 1
                self._overlaps = True
                continue
            lost = lost or not self._overlaps
            self._overlaps = True
            found.append(row)
            self._remember(row, key)
        return found, lost

    def _remember(self, row: bytes, key: int) -> None:
        moment = time_of(row)
        if moment is None:
            return
        if self._last is None or moment > self._last:
            self._last = moment
        second = moment[:_SECONDS]
        if second not in self._seen:
            self._seen[second] = Counter()
            oldest = _second_before(self._last[:_SECONDS])
            for each in [each for each in self._seen if each < oldest]:
                del self._seen[each]
        if second in self._seen:
            self._seen[second][key] += 1


class PodReader:
    """
    The log of one pod; satisfies `Reader`.

    A thread reads ahead, a few batches at most. Without *follow* it ends at what is there.
    """

    def __init__(
        self,
        source: Source,
        connect: Connect,
        tell: Callable[[str], None],
        *,
        since: str | None = None,
        follow: bool = False,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source = source
        self._connect, self._tell, self._pause = connect, tell, pause
        self._once = Deduplication(since)
        self._splitter = Splitter(source)
        self._lock = threading.Lock()
        self._batches: Queue[list[Line]] = Queue(_WAITING)
        self._turn = 0
        self._ended = False
        self._follow = follow
        self._begin()

    def read(self) -> Batch:
        """The next lines; while the end is still to come, there is more."""
        ended = self._ended  # first: what was read before the end is in the queue by then
        try:
            lines = self._batches.get(timeout=None if ended else 0.1) if self._waits else (
                self._batches.get_nowait()
            )
        except Empty:
            return Batch([], more=not self._follow and not ended)
        return Batch(lines, more=not self._batches.empty() or not self._follow)

    def settle(self) -> None:
        """Nothing is written any more: read what is left, and end."""
        if self._follow:
            self._follow = False
            self._begin()
