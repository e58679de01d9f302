"""Applying jobs, and waiting for them: one that fails does not stop the others."""

from __future__ import annotations

import sys
import time
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.board import board
from paddlespec.cli.tell import failed, noted, told
from paddlespec.cli.together import together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paddlespec.backend import Consent, Event, Mode, OperationFailed, Run, Until
    from paddlespec.cli.places import Engine, Engines
    from paddlespec.pipeline import Built
    from paddlespec.plan import JobPlan

_POLL_SECONDS = 1.0
_AT_ONCE = 8
# Of the time of a wait, so many parts to one are spent at rest.
_IDLE = 4
# Jobs that failed whose names fit into one line.
_NAMED = 10


class Waiting(NamedTuple):
    name: str
    engine: Engine
    run: Run
    is_here: bool = False


class Tally:
    """What became of each job of a command, for its last line."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}

    def note(self, name: str, event: Event | None = None) -> None:
        """A job was looked after; *event* is what was done to an object of it."""
        changed = event is not None and event.subject and event.verb != "unchanged"
        if changed or name not in self._words:
            self._words[name] = "applied" if changed else "unchanged"

    def failed(self, name: str) -> None:
        self._words[name] = "failed"

    def __str__(self) -> str:
        words = list(self._words.values())
        told = [f"{words.count(each)} {each}" for each in ("applied", "unchanged") if each in words]
        failed = sorted(name for name, word in self._words.items() if word == "failed")
        if failed:
            more = f", and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
            told.append(f"{len(failed)} failed ({', '.join(failed[:_NAMED])}{more})")
        return f"{len(words)} jobs: {', '.join(told)}"

    def __len__(self) -> int:
        return len(self._words)


def apply_all(
    built: Sequence[Built],
    engines: Engines,
    mode: Mode,
    asked: Consent,
    approved: Mapping[str, JobPlan],
    tally: Tally,
) -> tuple[list[Waiting], list[int]]:
    """
    Apply each job; one that fails does not stop the others.

    *asked* is what the command line agrees to; the policy is each job's own, and so is what a plan
    has *approved*.
    """
    from paddlespec.backend import Mode, OperationFailed
    from paddlespec.cli.build import recorded, work_of
    from paddlespec.cli.places import LOCAL

    preparing = Lock()
    runs: list[Waiting] = []
    codes: list[int] = []

    def apply(each: Built, tell: Callable[[Event], None]) -> Waiting:
        engine = engines.of(each.loaded)
        name = each.loaded.job.metadata.name
        policy = each.loaded.job.spec.policy.when_changed
        consent = asked._replace(policy=policy, approved=approved.get(name))
        with preparing:
            work = recorded(work_of(each), each.loaded)

        def telling(event: Event) -> None:
            tally.note(name, event)
            tell(event)

        run = engine.apply(work, mode, telling, consent)
        return Waiting(name, engine, run, each.loaded.target == LOCAL)

    def became(each: Built, outcome: Waiting | OperationFailed) -> None:
        name = each.loaded.job.metadata.name
        tally.note(name)
        if isinstance(outcome, OperationFailed):
            codes.append(failed(name, outcome))
            tally.failed(name)
            return
        runs.append(outcome)
        if mode is Mode.client:
            from paddlespec.emit import dump_all

            run = outcome.run
            sys.stdout.write(dump_all(run.sent or run.work.manifests))

    show = noted if mode is Mode.client else told
    together(built, at_once(built), apply, engines, show, became)
    return runs, codes


def at_once(built: Sequence[Built]) -> int:
    """How many jobs may be worked on at the same time; rehearsals come one after the other."""
    from paddlespec.cli.places import LOCAL

    return 1 if any(each.loaded.target == LOCAL for each in built) else _AT_ONCE


def wait_for_all(
    runs: Sequence[Waiting], until: Until, tally: Tally, *, quiet: bool, no_color: bool = False
) -> list[int]:
    """Look at all jobs in turn until each is where it should be, or cannot get there."""
    from paddlespec.backend import OperationFailed, TimeRanOut

    codes = []
    shown = board(quiet=quiet, no_color=no_color, alone=not any(each.is_here for each in runs))

    def failing(each: Waiting, error: OperationFailed) -> None:
        shown.drop(each.name)
        codes.append(failed(each.name, error))
        tally.failed(each.name)

    pending = list(runs)
    try:
        while pending:
            began = time.monotonic()
            for engine in dict.fromkeys(each.engine for each in pending):
                engine.ahead([each.run for each in pending if each.engine is engine])
            for each in tuple(pending):
                try:
                    progress = each.engine.look(each.run, until)
                except OperationFailed as error:
                    pending.remove(each)
                    failing(each, error)
                    continue
                shown.tell(each.name, progress)
                if progress.done:
                    pending.remove(each)
            shown.paint()
            if pending:
                took = time.monotonic() - began
                pending[0].engine.pause(max(_POLL_SECONDS, _IDLE * took))
    except TimeRanOut:
        for each in pending:
            last = shown.last.get(each.name, "nothing seen yet")
            late = TimeRanOut(f"time ran out while waiting until {until.value}: {last}")
            failing(each, late)
    finally:
        shown.clear()
    return codes
