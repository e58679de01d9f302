"""Many jobs at the same time, told one after the other."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backend import Event, OperationFailed
    from paddlespec.cli.places import Engines

Item = TypeVar("Item")
Result = TypeVar("Result")


def together(
    items: Sequence[Item],
    at_once: int,
    work: Callable[[Item, Callable[[Event], None]], Result],
    engines: Engines,
    tell: Callable[[Event], None],
    became: Callable[[Item, Result | OperationFailed], None],
) -> None:
    """
    Work on all *items*, some of them *at_once*; one that fails does not stop the others.

    What is told, and what *became* of each, comes in their order: of the first that is not over
    it comes at once. Whatever ends this early makes all work end at its next request, and is
    raised once nothing is under way any more.
    """
    from paddlespec.backend import OperationFailed

    def outcome(item: Item, tell: Callable[[Event], None]) -> Result | OperationFailed:
        try:
            return work(item, tell)
        except OperationFailed as error:
            return error

    if len(items) < 2 or at_once == 1:
        for each in items:
            became(each, outcome(each, tell))
        return
    from paddlespec.crew import Crew

    said: list[SimpleQueue[Event | None]] = [SimpleQueue() for _ in items]

    def run(index: int) -> Result | OperationFailed:
        try:
            return outcome(items[index], said[index].put)
        finally:
            said[index].put(None)

    engines.share(min(at_once, len(items)))
    crew = Crew(run, range(len(items)), at_once)
    results = crew.results()
    try:
        for own, each in zip(said, items):
            while (event := own.get()) is not None:
                tell(event)
            became(each, next(results))
    except BaseException:  # an interrupt as well ends all of them
        crew.dismiss()
        engines.cancel()
        crew.join()
        _tell_the_rest(said, tell)
        raise


def _tell_the_rest(
    said: Sequence[SimpleQueue[Event | None]], tell: Callable[[Event], None]
) -> None:
    """What happened and was not told yet."""
    for own in said:
        try:
            while True:
                event = own.get_nowait()
                if event is not None:
                    tell(event)
        except Empty:
            continue
