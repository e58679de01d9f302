"""
Process items in parallel threads, for work that mostly waits for servers.

The threads are daemons: the interpreter can exit while a server does not respond.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")


class Crew(Generic[Item, Result]):
    """Process *items* in order, at most *at_once* at the same time; starts immediately."""

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item], at_once: int) -> None:
        self._work = work
        self._queue: SimpleQueue[tuple[Item, SimpleQueue[_Outcome[Result]]]] = SimpleQueue()
        self._outcomes: list[SimpleQueue[_Outcome[Result]]] = [SimpleQueue() for _ in items]
        self._is_dismissed = False
        for pair in zip(items, self._outcomes):
            self._queue.put(pair)
        self._threads = [
            threading.Thread(target=self._run, daemon=True) for _ in range(min(at_once, len(items)))
        ]
        for thread in self._threads:
            thread.start()

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the items; raises the error of a failed item."""
        for pending in self._outcomes:
            outcome = pending.get()
            if outcome.error is not None:
                raise outcome.error
            yield outcome.result[0]

    def dismiss(self) -> None:
        """Start no further items; items in progress continue."""
        self._is_dismissed = True

    def join(self) -> None:
        """Wait for the items in progress."""
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while not self._is_dismissed:
            try:
                item, outcome = self._queue.get_nowait()
            except Empty:
                return
            try:
                outcome.put(_Outcome(None, (self._work(item),)))
            except BaseException as error:  # noqa: BLE001 - re-raised by `results`
                outcome.put(_Outcome(error, ()))


class _Outcome(Generic[Result]):
    def __init__(self, error: BaseException | None, result: tuple[Result, ...]) -> None:
        self.error, self.result = error, result
