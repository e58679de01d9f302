"""
Read the log of a pod over connections that may drop.

The kubelet sends lines with timestamps. After a drop the log is requested again from at least a
second before the last line: timestamps are not unique, two streams of one container may be
slightly out of order, and the server counts in whole seconds. Lines that were already returned
are dropped by time and text. Lines lost to log rotation are reported.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from queue import Empty, Queue
from typing import TYPE_CHECKING, Protocol

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.logs.line import LONGEST, Splitter, time_of
from paddlespec.logs.merge import Batch
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.logs.line import Line, Source

_WAITING = 8  # batches that are read ahead
_SECONDS = 19  # length of a timestamp without its fraction
_ZONED = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
_PAUSES = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
_AT_ITS_END = 3  # after a log has ended, a new container may continue it: retry slowly


class Connect(Protocol):
    """
    Request a log with timestamps, starting at *since* (RFC 3339, whole seconds).

    Yields blocks as they arrive, until the log ends or, without *follow*, until everything
    written so far was sent. Raises `OperationFailed` when the connection drops or is refused.
    """

    def __call__(self, since: str | None, *, follow: bool) -> Iterable[bytes]: ...


class Deduplication:
    """Return every line of one pod once, however often the log is requested again."""

    def __init__(self, since: str | None = None) -> None:
        self._first = since
        self._last: bytes | None = None
        self._seen: dict[bytes, Counter[int]] = {}
        self._again: Counter[int] = Counter()
        self._overlaps = True

    def since(self) -> str | None:
        """Return the time from which to request the log again."""
        if self._last is None:
            return self._first
        return f"{_second_before(self._last[:_SECONDS]).decode()}Z"

    def reconnected(self) -> None:
        """Expect the lines already returned to appear again."""
        self._again = sum(self._seen.values(), Counter())
        self._overlaps = not self._again

    def new(self, rows: Iterable[bytes]) -> tuple[list[bytes], bool]:
        """Return the new lines in *rows*, and whether lines may be missing before them."""
        new_rows, lost = [], False
        for row in rows:
            key = hash(row)
            if self._again[key] > 0:
                self._again[key] -= 1
                self._overlaps = True
                continue
            lost = lost or not self._overlaps
            self._overlaps = True
            new_rows.append(row)
            self._remember(row, key)
        return new_rows, lost

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
            for stale in [known for known in self._seen if known < oldest]:
                del self._seen[stale]
        if second in self._seen:
            self._seen[second][key] += 1


class PodReader:
    """
    The log of one pod; implements `Reader`.

    A thread reads a few batches ahead. Without *follow* it ends with what is written so far.
    """

    def __init__(
        self,
        source: Source,
        connect: Connect,
        report: Callable[[str], None],
        *,
        since: str | None = None,
        follow: bool = False,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source = source
        self._connect, self._report, self._pause = connect, report, pause
        self._once = Deduplication(since)
        self._splitter = Splitter(source)
        self._lock = threading.Lock()
        self._batches: Queue[list[Line]] = Queue(_WAITING)
        self._turn = self._taken = 0
        self._ended = False
        self._follow = follow
        self._begin()

    def read(self) -> Batch:
        """Return the next lines; without following, wait briefly for them."""
        ended = self._ended  # read first: by then, everything before the end is in the queue
        try:
            wait = not self._follow and not ended
            lines = self._batches.get(wait, timeout=0.1 if wait else None)
        except Empty:
            return Batch([], more=not self._follow and not ended)
        return Batch(lines, more=not self._follow or not self._batches.empty())

    @property
    def has_ended(self) -> bool:
        """Whether the log was read completely."""
        return self._ended and self._batches.empty()

    def go_on(self) -> None:
        """Follow the log from where it ended."""
        self._ended, self._follow = False, True
        self._begin()

    def settle(self) -> None:
        """Read what is left of a log that is no longer written, and end."""
        if self._follow:
            self._follow = False
            self._begin()

    def rest(self) -> list[Line]:
        """Return nothing: the last line was returned with the others."""
        return []

    def close(self) -> None:
        """Let the thread end when its connection does."""
        self._turn += 1

    def _begin(self) -> None:
        """Start a thread that reads; a previous one ends with its next block."""
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
                    self._report(f"{self.source.label}: cannot read its log: {error.message}")
                    break
            self._pause(_PAUSES[min(in_vain, len(_PAUSES) - 1)])
        if turn == self._turn:
            self._ended = True

    def _drain(self, turn: int, blocks: Iterable[bytes], *, whole: bool) -> None:
        """Read a connection to its end; a line cut off by a drop is sent again later."""
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
            new_rows, lost = self._once.new(map(_in_utc, rows))
            if lost:
                self._report(f"{self.source.label}: its log was rotated; lines may be missing here")
            if new_rows:
                self._batches.put(self._splitter.feed(b"\n".join(new_rows) + b"\n"))


def _in_utc(row: bytes) -> bytes:
    """Convert the time of a line to UTC with nine digits: some runtimes use the node's zone."""
    if time_of(row) is not None:
        return row
    match = _ZONED.match(row)
    if match is None:
        return row
    zone = match[3].replace(b"Z", b"+0000").replace(b":", b"")
    moment = datetime.strptime((match[1] + zone).decode(), "%Y-%m-%dT%H:%M:%S%z")
    second = f"{moment.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S}".encode()
    return second + b"." + (match[2] or b"").ljust(9, b"0") + b"Z " + row[match.end() :]


def _second_before(second: bytes) -> bytes:
    moment = datetime.strptime(second.decode(), "%Y-%m-%dT%H:%M:%S") - timedelta(seconds=1)  # noqa: DTZ007 - UTC
    return f"{moment:%Y-%m-%dT%H:%M:%S}".encode()
