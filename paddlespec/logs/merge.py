"""
Many sorted logs as one, in constant memory.

What stands between two lines of different replicas is decided by their times; that a replica which
says nothing now had said nothing earlier is known once it was read again.
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
    """Some lines of one source; *more*: there is more at once, and not only later."""

    lines: list[Line]
    more: bool


class Reader(Protocol):
    """
    The log of one replica from some place on: every line once, in order.

    A reader over a network reconnects by itself. It begins a little earlier than where it was, for
    times are not unique, and leaves out lines that it gave already; what is lost it tells.
    """

    @property
    def source(self) -> Source:
        """The replica."""

    def read(self) -> Batch:
        """The next lines, of bounded size; does not wait for any."""

    def rest(self) -> list[Line]:
        """What stands there without an end, once nothing more comes."""

    def close(self) -> None:
        """Let go of files and connections."""


class Logs(Protocol):
    """The logs of one run, wherever it runs."""

    def readers(self) -> Sequence[Reader]:
        """One for each replica in question; replicas that start later may join at the end."""

    def is_over(self) -> bool:
        """Whether nothing is written any more."""


def merged(logs: Logs, *, follow: bool, wait: Callable[[], None]) -> Iterator[list[Line]]:
    """
    The lines of *logs* by time, some at once; *wait* is called whenever there is nothing to do.

    With *follow* until the run is over and all of it is read.
    """
    merge = _Merge()
    while True:
        over = not follow or logs.is_over()
        readers = logs.readers()
        merge.read(readers)
        if lines := merge.release(settled=over):
            yield lines
        # What ended a batch need not be the end of its log: only who was asked in vain is done.
        if lines or merge.more:
            continue
        if over:
            break
        wait()
    if rest := sorted((line for each in readers for line in each.rest()), key=_ORDER):
        yield rest


class _Merge:
    """What was read and is not yet told: one batch of each source at most."""

    def __init__(self) -> None:
        self.pending: dict[Source, list[Line]] = {}
        self.more = False
        self._floors: dict[Source, bytes] = {}
        self._lagging: set[Source] = set()
        self._limit = b""

    def read(self, readers: Sequence[Reader]) -> None:
        """Read where everything that was read is told."""
        for each in readers:
            source = each.source
            if source in self.pending:
                continue
            lines, more = each.read()
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
        The lines before which no other can come, sorted.

        A source may go on from its last line. One that had nothing to say may still have been
        about to: unless all is *settled*, what is new waits until everybody was read again.
        """
        limit = self._limit
        self._limit = max((each[-1].order for each in self.pending.values()), default=limit)
        bounds = [each[-1].order for each in self.pending.values()]
        bounds += [self._floors.get(each, b"") for each in self._lagging - self.pending.keys()]
        if not settled:
            bounds.append(limit)
        if not self.pending:
            return []
        bound = min(bounds)
        found: list[Line] = []
        for source, lines in list(self.pending.items()):
            cut = bisect_right(lines, bound, key=_ORDER)
            if cut == len(lines):
                found += self.pending.pop(source)
            elif cut:
                found += lines[:cut]
                self.pending[source] = lines[cut:]
        found.sort(key=_ORDER)
        return found
