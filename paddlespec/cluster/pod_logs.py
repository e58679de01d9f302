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
from paddlespec.cluster.refusal import Refused
from paddlespec.logs.line import LONGEST, Splitter, time_of
from paddlespec.logs.merge import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.logs.line import Line, Source

_WAITING = 8  # batches that are read and not told yet
_SECONDS = 19  # of a time, without its fraction
_ZONED = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
_PAUSES = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
_AT_ITS_END = 3  # a log that ended may go on with a new container: no hurry


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
        self._turn = self._taken = 0
        self._ended = False
        self._follow = follow
        self._begin()

    def read(self) -> Batch:
        """The next lines; where an end is to be reached, it is waited for a little."""
        ended = self._ended  # first: what was read before the end is in the queue by then
        try:
            wait = not self._follow and not ended
            lines = self._batches.get(wait, timeout=0.1 if wait else None)
        except Empty:
            return Batch([], more=not self._follow and not ended)
        return Batch(lines, more=not self._follow or not self._batches.empty())

    @property
    def has_ended(self) -> bool:
        """Whether everything was read that was to be read."""
        return self._ended and self._batches.empty()

    def go_on(self) -> None:
        """Follow from where the log ended."""
        self._ended, self._follow = False, True
        self._begin()

    def settle(self) -> None:
        """Nothing is written any more: read what is left, and end."""
        if self._follow:
            self._follow = False
            self._begin()

    def rest(self) -> list[Line]:
        """Nothing: the last line was told with the others."""
        return []

    def close(self) -> None:
        """Let the thread end by itself, when its connection does."""
        self._turn += 1

    def _begin(self) -> None:
        """Read in a thread of its own; one that reads already ends with its next block."""
        self._turn += 1
        name = f"log of {self.source.name}"
        arguments = (self._turn, self._follow)
        threading.Thread(target=self._pump, args=arguments, name=name, daemon=True).start()

    def _pump(self, turn: int, follow: bool) -> None:
        in_vain = 0
        while turn == self._turn:
            with self._lock:
                self._once.reconnected()
                since = self._once.since()
            before = self._taken
            try:
                self._drain(turn, self._connect(since, follow=follow), whole=not follow)
                if not follow:
                    break
                in_vain = _AT_ITS_END
            except OperationFailed as error:
                in_vain = in_vain + 1 if self._taken == before else 1
                stays = isinstance(error, Refused) and not error.refusal.may_pass
                if stays or (in_vain > len(_PAUSES) and not follow):
                    self._tell(f"{self.source.label}: its log cannot be read: {error.message}")
                    break
            self._pause(_PAUSES[min(in_vain, len(_PAUSES) - 1)])
        if turn == self._turn:
            self._ended = True

    def _drain(self, turn: int, blocks: Iterable[bytes], *, whole: bool) -> None:
        """Take what a connection gives; a line that is cut off by its drop comes again."""
        rest = b""
        for block in blocks:
            head, end, tail = block.rpartition(b"\n")
            if end:
                self._take(turn, (rest + head).split(b"\n"))
                rest = tail
            else:
                rest += block
                if len(rest) > LONGEST:
                    self._take(turn, [rest])
                    rest = b""
            if turn != self._turn:
                return
        if rest and whole:
            self._take(turn, [rest])

    def _take(self, turn: int, rows: list[bytes]) -> None:
        with self._lock:
            if turn != self._turn:
                return
            self._taken += len(rows)
            found, lost = self._once.new(map(_in_utc, rows))
            if lost:
                self._tell(
                    f"{self.source.label}: its log was rotated away meanwhile; "
                    "lines may be missing here"
                )
            if found:
                self._batches.put(self._splitter.feed(b"\n".join(found) + b"\n"))


def _in_utc(row: bytes) -> bytes:
    """A line with its time in UTC and nine digits: some runtimes write a node's own zone."""
    if time_of(row) is not None:
        return row
    found = _ZONED.match(row)
    if found is None:
        return row
    zone = found[3].replace(b"Z", b"+0000").replace(b":", b"")
    moment = datetime.strptime((found[1] + zone).decode(), "%Y-%m-%dT%H:%M:%S%z")
    second = f"{moment.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S}".encode()
    return second + b"." + (found[2] or b"").ljust(9, b"0") + b"Z " + row[found.end() :]


def _second_before(second: bytes) -> bytes:
    moment = datetime.strptime(second.decode(), "%Y-%m-%dT%H:%M:%S") - timedelta(seconds=1)  # noqa: DTZ007 - of UTC, as text
    return f"{moment:%Y-%m-%dT%H:%M:%S}".encode()
