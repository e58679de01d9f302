"""Many jobs in parallel, reported one after another."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Event

Item = TypeVar("Item")
Result = TypeVar("Result")


class Shared(Protocol):
    """What parallel operations share: their engines."""

    def share(self, jobs: int) -> None:
        """Divide what may be under way at once among *jobs*."""

    def cancel(self) -> None:
        """End every operation at its next request."""


def concurrently(
    items: Sequence[Item],
    at_once: int,
    work: Callable[[Item, Callable[[Event], None]], Result],
    engines: Shared,
    report: Callable[[Event], None],
    finish: Callable[[Item, Result | OperationFailed], None],
) -> None:
    """
    Work on all *items*, up to *at_once* in parallel; one that fails does not stop the others.

    Events and outcomes are reported in the order of *items*, those of the first unfinished one
    immediately. Any other exception ends all work at its next request, and is raised after that.
    """
    from paddlespec.runs.failures import OperationFailed

    def outcome(item: Item, report: Callable[[Event], None]) -> Result | OperationFailed:
        try:
            return work(item, report)
        except OperationFailed as error:
            return error

    if len(items) < 2 or at_once == 1:
        for item in items:
            finish(item, outcome(item, report))
        return
    from paddlespec.threads import Crew

    events: list[SimpleQueue[Event | None]] = [SimpleQueue() for _ in items]

    def run(index: int) -> Result | OperationFailed:
        try:
            return outcome(items[index], events[index].put)
        finally:
            events[index].put(None)

    engines.share(min(at_once, len(items)))
    crew = Crew(run, range(len(items)), at_once)
    results = crew.results()
    try:
        for queue, item in zip(events, items):
            while (event := queue.get()) is not None:
                report(event)
            finish(item, next(results))
    except BaseException:  # including an interrupt
        crew.dismiss()
        engines.cancel()
        crew.join()
        _report_rest(events, report)
        raise


def _report_rest(
    events: Sequence[SimpleQueue[Event | None]], report: Callable[[Event], None]
) -> None:
    """Report the events that are still queued."""
    for queue in events:
        try:
            while True:
                event = queue.get_nowait()
                if event is not None:
                    report(event)
        except Empty:
            continue
