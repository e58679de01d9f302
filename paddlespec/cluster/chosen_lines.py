"""Where the log of a pod begins to be shown: its last lines, or those from some time on."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from paddlespec.cluster.pod_logs import PodReader
from paddlespec.logs.merge import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.logs.line import Line, Source
    from paddlespec.logs.start import Start

    # Since when, whether to follow, and only so many last lines.
    Ask = Callable[[str | None, bool, int | None], Iterable[bytes]]


class ChosenLines:
    """
    The log of a pod from its start on; satisfies `Reader`.

    Only the end of a log says which its last lines are: where they are wanted, it is read to its
    end first, and followed from there.
    """

    def __init__(
        self,
        source: Source,
        ask: Ask,
        tell: Callable[[str], None],
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
        self._reader = PodReader(source, self._connect, tell, since=self._since, follow=at_once)

    def read(self) -> Batch:
        """The next lines that are wanted."""
        batch = self._reader.read()
        lines = [each for each in batch.lines if self._is_wanted(each)]
        if self._last is None:
            return Batch(lines, batch.more)
        self._last.extend(each for each in lines if self._matches(each))
        if not self._reader.has_ended:
            return Batch([], more=True)
        found, self._last = list(self._last), None
        if self._follow:
            self._reader.go_on()
        return Batch(found, more=False)

    def settle(self) -> None:
        """Nothing is written any more: read what is left, and end."""
        self._follow = False
        self._reader.settle()

    def rest(self) -> list[Line]:
        """Nothing: lines come whole."""
        return []

    def close(self) -> None:
        """Let go of the connection."""
        self._reader.close()

    def _connect(self, since: str | None, *, follow: bool) -> Iterable[bytes]:
        lines = None
        begins = self._last is not None and since == self._since
        if begins and self._start.lines is not None and self._start.matches is None:
            # One at least: it says from where on to follow.
            lines = max(1, self._start.lines)
        return self._ask(since, follow, lines)

    def _is_wanted(self, line: Line) -> bool:
        return self._start.time is None or line.time >= self._start.time

    def _matches(self, line: Line) -> bool:
        matches = self._start.matches
        return matches is None or bool(matches(line.time + b" " + line.text))
