"""Read the log of a pod from its last lines, or from a point in time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.streams.pod_logs import PodReader
from paddlespec.logs.merge import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.logs.line import Line, Source
    from paddlespec.logs.start import Start

    # Arguments: since when, whether to follow, and the number of last lines.
    Ask = Callable[[str | None, bool, int | None], Iterable[bytes]]


class ChosenLines:
    """
    The log of a pod from its start on; implements `Reader`.

    To select the last lines, the log is first read to its end and then followed from there.
    """

    def __init__(
        self,
        source: Source,
        ask: Ask,
        report: Callable[[str], None],
        start: Start,
        *,
        follow: bool,
    ) -> None:
        self.source = source
        self._ask, self._start, self._follow = ask, start, follow
        self._last: deque[Line] | None = None
        if start.lines is not None:
            self._last = deque(maxlen=start.lines)
        self._since = f"{start.time[:19].decode()}Z" if start.time is not None else None
        at_once = follow and self._last is None
        self._reader = PodReader(source, self._connect, report, since=self._since, follow=at_once)

    def read(self) -> Batch:
        """Return the next selected lines."""
        batch = self._reader.read()
        lines = [line for line in batch.lines if self._is_recent(line)]
        if self._last is None:
            return Batch(lines, batch.more)
        self._last.extend(line for line in lines if self._matches(line))
        if not self._reader.has_ended:
            return Batch([], more=True)
        last, self._last = list(self._last), None
        if self._follow:
            self._reader.go_on()
        return Batch(last, more=False)

    def settle(self) -> None:
        """Read what is left of a log that is no longer written, and end."""
        self._follow = False
        self._reader.settle()

    def rest(self) -> list[Line]:
        """Return nothing: lines are always complete."""
        return []

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()

    def _connect(self, since: str | None, *, follow: bool) -> Iterable[bytes]:
        lines = None
        begins = self._last is not None and since == self._since
        if begins and self._start.lines is not None and self._start.matches is None:
            # At least one line is needed to know where to follow from.
            lines = max(1, self._start.lines)
        return self._ask(since, follow, lines)

    def _is_recent(self, line: Line) -> bool:
        return self._start.time is None or line.time >= self._start.time

    def _matches(self, line: Line) -> bool:
        matches = self._start.matches
        return matches is None or bool(matches(line.time + b" " + line.text))
