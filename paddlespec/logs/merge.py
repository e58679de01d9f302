"""
Merge many sorted logs into one, in constant memory.

Lines of different replicas are ordered by time. That a silent replica has written nothing earlier
is known only after it was read again.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paddlespec.logs.line import Line, Source

_ORDER = itemgetter(0)


class Batch(NamedTuple):
    """Some lines of one source; *more* means that further lines are available immediately."""

    lines: list[Line]
    more: bool


class Reader(Protocol):
    """
    The log of one replica from some position on: every line once, in order.

    A reader over a network reconnects on its own. It resumes a little earlier, because times are not
    unique, and drops lines that it has already returned; it reports lost lines.
    """

    @property
    def source(self) -> Source:
        """The replica."""

    def read(self) -> Batch:
        """Return the next lines, of bounded size, without waiting."""

    def rest(self) -> list[Line]:
        """Return the incomplete last line, after the log has ended."""

    def close(self) -> None:
        """Close files and connections."""


class Logs(Protocol):
    """The logs of one run."""

    def readers(self) -> Sequence[Reader]:
        """Return a reader for each selected replica; replicas that start later are appended."""

    def is_over(self) -> bool:
        """Report whether all logs have ended."""


def merged(logs: Logs, *, follow: bool, wait: Callable[[], None]) -> Iterator[list[Line]]:
    """
    Yield the lines of *logs* in batches, sorted by time; call *wait* when there is nothing to do.

    *follow* continues until the run has finished and everything is read.
    """
    merge = _Merge()
    while True:
        over = not follow or logs.is_over()
        readers = logs.readers()
        merge.read(readers)
        if lines := merge.release(settled=over):
            yield lines
        # A batch may end before its log does: a reader is done only once it returns nothing.
        if lines or merge.more:
            continue
        if over:
            break
        wait()
    if rest := sorted((line for reader in readers for line in reader.rest()), key=_ORDER):
        yield rest


class _Merge:
    """Lines that were read but not released: at most one batch of each source."""

    def __init__(self) -> None:
        self.pending: dict[Source, list[Line]] = {}
        self.more = False
        self._floors: dict[Source, bytes] = {}
        self._lagging: set[Source] = set()
        self._limit = b""

    def read(self, readers: Sequence[Reader]) -> None:
        """Read the sources whose lines have all been released."""
        for reader in readers:
            source = reader.source
            if source in self.pending:
                continue
            lines, more = reader.read()
            if lines:
                self.pending[source] = lines
                self._floors[source] = lines[-1].order
            if more:
                self._lagging.add(source)
            else:
                self._lagging.discard(source)
        self.more = bool(self._lagging)

    def release(self, *, settled: bool) -> list[Line]:
        """
        Return the lines before which no other line can appear, sorted.

        A source continues from its last line. A source without lines may be about to write some:
        unless everything is *settled*, new lines wait until all sources were read again.
        """
        limit = self._limit
        self._limit = max((lines[-1].order for lines in self.pending.values()), default=limit)
        bounds = [lines[-1].order for lines in self.pending.values()]
        bounds += [self._floors.get(source, b"") for source in self._lagging - self.pending.keys()]
        if not settled:
            bounds.append(limit)
        if not self.pending:
            return []
        bound = min(bounds)
        released: list[Line] = []
        for source, lines in list(self.pending.items()):
            cut = bisect_right(lines, bound, key=_ORDER)
            if cut == len(lines):
                released += self.pending.pop(source)
            elif cut:
                released += lines[:cut]
                self.pending[source] = lines[cut:]
        released.sort(key=_ORDER)
        return released
