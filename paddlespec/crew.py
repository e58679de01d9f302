"""
Threads that work side by side, for what waits most of its time for answers of others.

They are daemons: an interpreter that ends does not wait for a server that does not answer.
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
    """Begin to work on *items*, in their order, at most *at_once* at the same time."""

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item], at_once: int) -> None:
        self._work = work
        self._left: SimpleQueue[tuple[Item, SimpleQueue[_Outcome[Result]]]] = SimpleQueue()
        self._outcomes: list[SimpleQueue[_Outcome[Result]]] = [SimpleQueue() for _ in items]
        self._dismissed = False
        for pair in zip(items, self._outcomes):
            self._left.put(pair)
        self._threads = [
            threading.Thread(target=self._run, daemon=True) for _ in range(min(at_once, len(items)))
        ]
        for each in self._threads:
            each.start()

    def results(self) -> Iterator[Result]:
        """What became of each item, in their order; a failure is raised in its turn."""
        for each in self._outcomes:
            outcome = each.get()
            if outcome.error is not None:
                raise outcome.error
            yield outcome.result[0]

    def dismiss(self) -> None:
        """Begin nothing more; what is under way goes on."""
        self._dismissed = True

    def join(self) -> None:
        """Wait for the end of all that is under way."""
        for each in self._threads:
            each.join()

    def _run(self) -> None:
        while not self._dismissed:
            try:
                item, outcome = self._left.get_nowait()
            except Empty:
                return
            try:
                outcome.put(_Outcome(None, (self._work(item),)))
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                outcome.put(_Outcome(error, ()))


class _Outcome(Generic[Result]):
    def __init__(self, error: BaseException | None, result: tuple[Result, ...]) -> None:
        self.error, self.result = error, result
