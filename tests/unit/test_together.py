"""Many jobs at the same time: order, failures, and the end of all of them."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.cli.shared.apply_jobs import Tally
from paddlespec.cli.shared.concurrently import concurrently
from paddlespec.cli.shared.progress_board import Board
from paddlespec.cli.shared.results import Results
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.values import Event, Progress
from paddlespec.threads import Crew

if TYPE_CHECKING:
    from collections.abc import Callable


class Cancelled:
    """Stands for the connections: who is told to end, and how many work."""

    def __init__(self) -> None:
        self.event, self.jobs = threading.Event(), 0

    def cancel(self) -> None:
        self.event.set()

    def share(self, jobs: int) -> None:
        self.jobs = jobs


def run(
    work: Callable[[int, Callable[[Event], None]], Any], count: int, at_once: int = 4
) -> tuple[list[str], Cancelled]:
    """What is told, and what became of each, in the order in which it comes."""
    told: list[str] = []
    places = Cancelled()
    concurrently(
        range(count),
        at_once,
        work,
        places,
        lambda event: told.append(str(event)),
        lambda item, outcome: told.append(f"{item}={outcome}"),
    )
    return told, places


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_all_is_told_in_order_whoever_is_first(at_once: int) -> None:
    last_is_over = threading.Event()

    def work(item: int, tell: Callable[[Event], None]) -> str:
        tell(Event("began", str(item)))
        if item == 5:
            last_is_over.set()
        if item == 0 and at_once == 8:
            assert last_is_over.wait(20)
        if item == 3:
            raise OperationFailed("no")
        return "done"

    told, _ = run(work, 6, at_once)
    outcomes = ["done", "done", "done", "no", "done", "done"]
    assert told == [
        line for item in range(6) for line in (f"{item} began", f"{item}={outcomes[item]}")
    ]


def test_what_the_first_tells_is_told_at_once() -> None:
    heard = threading.Event()
    told: list[str] = []

    def tell(event: Event) -> None:
        told.append(str(event))
        heard.set()

    def work(item: int, tell: Callable[[Event], None]) -> str:
        if item == 0:
            tell(Event("waits"))
            assert heard.wait(20)
        return "done"

    concurrently(
        range(2),
        2,
        work,
        Cancelled(),
        tell,
        lambda item, _: told.append(str(item)),
    )
    assert told == ["waits", "0", "1"]


def test_whatever_ends_it_early_ends_all_and_tells_what_was_done() -> None:
    told: list[str] = []
    begun: list[int] = []
    places = Cancelled()

    def work(item: int, tell: Callable[[Event], None]) -> str:
        begun.append(item)
        tell(Event("began", str(item)))
        if item > 0:
            assert places.event.wait(20)
            tell(Event("tidied", str(item)))
        return "done"

    def became(item: int, _: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        concurrently(
            range(50),
            3,
            work,
            places,
            lambda event: told.append(str(event)),
            became,
        )
    assert len(begun) <= 4
    assert {f"{item} tidied" for item in begun if item} <= set(told)
    assert threading.active_count() < 10


def test_a_fault_of_ours_ends_all_too() -> None:
    def work(item: int, _: object) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(work, 5)


def test_a_crew_begins_no_more_than_it_may() -> None:
    at_work = 0
    most = 0
    lock = threading.Lock()

    def work(item: int) -> int:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        with lock:
            at_work -= 1
        return item * item

    crew = Crew(work, range(200), 3)
    assert list(crew.results()) == [each * each for each in range(200)]
    assert 1 <= most <= 3


def tallied(*notes: tuple[str, str]) -> str:
    tally = Tally(Results())
    for name, word in notes:
        if word == "failed":
            tally.failed(name, OperationFailed("why"))
        else:
            tally.note(name, Event(word, "Job/x") if word else None)
    return str(tally)


def test_the_last_line_counts_jobs_and_names_those_that_failed() -> None:
    assert tallied(("a", "created"), ("a", "unchanged"), ("b", "unchanged"), ("c", "")) == (
        "3 jobs: 1 applied, 2 unchanged"
    )
    assert tallied(("a", "created"), ("a", "failed"), ("b", "")) == (
        "2 jobs: 1 unchanged, 1 failed (a)"
    )


def shown(moves: bool, color: bool = False) -> tuple[Board, io.StringIO]:
    stream = io.StringIO()
    return Board(stream, quiet=False, moves=moves, color=color), stream


def test_plain_lines_are_said_once() -> None:
    board, stream = shown(moves=False)
    for message in ("starting", "starting", "ready"):
        board.show("fit", Progress(message == "ready", True, message))
        board.paint()
    board.clear()
    assert stream.getvalue() == "fit: starting\nfit: ready\n"


def test_a_terminal_has_one_line_for_each_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "5")
    board, stream = shown(moves=True)
    for number in range(5):
        board.show(f"job-{number}", Progress(False, True, "waits for a very long time"))
    board.paint()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "job-0: waits for a…"
    assert lines[3] == "... and 2 more"
    assert all(len(each) < 20 for each in lines)
    board.show("job-0", Progress(True, True, "ready"))
    assert stream.getvalue().endswith("\x1b[2K\rjob-0: ready\n")
    assert stream.getvalue().count("\x1b[1A") == 4


def test_trouble_is_coloured_only_where_colours_are() -> None:
    for color in (False, True):
        board, stream = shown(moves=True, color=color)
        board.show("fit", Progress(True, False, "failed"))
        assert ("\x1b[33m" in stream.getvalue()) is color
