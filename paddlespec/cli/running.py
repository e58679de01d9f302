"""Applying jobs, and waiting for them: one that fails does not stop the others."""

from __future__ import annotations

import sys
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.tell import Lines, failed, noted, told
from paddlespec.cli.together import together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paddlespec.backend import Consent, Event, Mode, OperationFailed, Run, Until
    from paddlespec.cli.places import Engine, Engines
    from paddlespec.pipeline import Built
    from paddlespec.plan import JobPlan

_POLL_SECONDS = 1.0
_AT_ONCE = 8


class Waiting(NamedTuple):
    name: str
    engine: Engine
    run: Run


def apply_all(
    built: Sequence[Built],
    engines: Engines,
    mode: Mode,
    asked: Consent,
    approved: Mapping[str, JobPlan],
) -> tuple[list[Waiting], list[int]]:
    """
    Apply each job; one that fails does not stop the others.

    *asked* is what the command line agrees to; the policy is each job's own, and so is what a plan
    has *approved*.
    """
    from paddlespec.backend import Mode, OperationFailed
    from paddlespec.cli.build import recorded, work_of

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
        return Waiting(name, engine, engine.apply(work, mode, tell, consent))

    def became(each: Built, outcome: Waiting | OperationFailed) -> None:
        if isinstance(outcome, OperationFailed):
            codes.append(failed(each.loaded.job.metadata.name, outcome))
            return
        runs.append(outcome)
        if mode is Mode.client:
            from paddlespec.emit import dump_all

            run = outcome.run
            sys.stdout.write(dump_all(run.sent or run.work.manifests))

    telling = noted if mode is Mode.client else told
    together(built, at_once(built), apply, engines, telling, became)
    return runs, codes


def at_once(built: Sequence[Built]) -> int:
    """How many jobs may be worked on at the same time; rehearsals come one after the other."""
    from paddlespec.cli.places import LOCAL

    return 1 if any(each.loaded.target == LOCAL for each in built) else _AT_ONCE


def wait_for_all(runs: list[Waiting], until: Until, *, quiet: bool) -> list[int]:
    """Look at all jobs in turn until each is where it should be, or cannot get there."""
    from paddlespec.backend import OperationFailed, TimeRanOut

    codes = []
    lines = Lines(quiet=quiet)
    pending = list(runs)
    while pending:
        for each in tuple(pending):
            try:
                progress = each.engine.look(each.run, until)
            except OperationFailed as error:
                pending.remove(each)
                codes.append(failed(each.name, error))
                continue
            lines.tell(each.name, progress)
            if progress.done:
                pending.remove(each)
        try:
            if pending:
                pending[0].engine.pause(_POLL_SECONDS)
        except TimeRanOut:
            for each in pending:
                last = lines.last.get(each.name, "nothing seen yet")
                late = TimeRanOut(f"time ran out while waiting until {until.value}: {last}")
                codes.append(failed(each.name, late))
            return codes
    return codes
