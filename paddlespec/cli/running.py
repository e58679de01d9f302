"""Applying jobs, and waiting for them: one that fails does not stop the others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.tell import Lines, failed, noted, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.backend import Consent, Mode, Run, Until
    from paddlespec.cli.places import Engine, Engines
    from paddlespec.pipeline import Built
    from paddlespec.plan import JobPlan

_POLL_SECONDS = 1.0


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

    runs, codes = [], []
    for each in built:
        name = each.loaded.job.metadata.name
        try:
            engine = engines.of(each.loaded)
            telling = noted if mode is Mode.client else told
            policy = each.loaded.job.spec.policy.when_changed
            consent = asked._replace(policy=policy, approved=approved.get(name))
            work = recorded(work_of(each), each.loaded)
            run = engine.apply(work, mode, telling, consent)
        except OperationFailed as error:
            codes.append(failed(name, error))
            continue
        runs.append(Waiting(name, engine, run))
        if mode is Mode.client:
            from paddlespec.emit import dump_all

            sys.stdout.write(dump_all(engine.sent))
    return runs, codes


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
