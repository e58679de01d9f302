"""Applying jobs and waiting for them; a job that fails does not stop the others."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.again import again, pasted
from paddlespec.cli.shared.concurrently import concurrently
from paddlespec.cli.shared.job_refs import backend_of
from paddlespec.cli.shared.output import note_event, report_failure
from paddlespec.cli.shared.progress_board import board

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from paddlespec.backends.protocols import Engine
    from paddlespec.change.plan import JobPlan
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.results import Results
    from paddlespec.pipeline import Built
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Consent, Event, Mode, Run, Until

_AT_ONCE = 8
# Looking takes at most one part in so many of the time of a wait.
_IDLE = 4
# More names of failed jobs than these do not fit into one line.
_NAMED = 10


class Applied(NamedTuple):
    """A job that was applied, and where."""

    name: str
    engine: Engine
    run: Run
    is_foreground: bool = False
    file: str = "-"


class Tally:
    """The result of each job of a command, for its last line and for `-o json`."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._results: dict[str, str] = {}

    def note(self, name: str, event: Event | None = None) -> None:
        """Count a job: as applied if *event* changed an object, else as unchanged."""
        changed = event is not None and event.subject and event.verb != "unchanged"
        if event is not None:
            self.results.event(name, event)
        if changed or name not in self._results:
            self._results[name] = "applied" if changed else "unchanged"
            self.results.update(name, result=self._results[name])

    def failed(self, name: str, error: OperationFailed) -> None:
        """Count a job as failed."""
        self._results[name] = "failed"
        self.results.failed(name, error)

    def __str__(self) -> str:
        results = list(self._results.values())
        parts = [
            f"{results.count(word)} {word}" for word in ("applied", "unchanged") if word in results
        ]
        failed = sorted(name for name, result in self._results.items() if result == "failed")
        if failed:
            more = f", and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
            parts.append(f"{len(failed)} failed ({', '.join(failed[:_NAMED])}{more})")
        return f"{len(results)} jobs: {', '.join(parts)}"

    def __len__(self) -> int:
        return len(self._results)


def apply_all(
    built: Sequence[Built],
    engines: Engines,
    mode: Mode,
    asked: Consent,
    approved: Mapping[str, JobPlan],
    tally: Tally,
) -> tuple[list[Applied], list[int]]:
    """
    Apply each job; returns those that were applied and the exit codes of the others.

    *asked* is what the command line agrees to; the policy of each job, and what a plan has
    *approved* for it, are added.
    """
    from paddlespec.cli.shared.build import with_origin, work_of
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Event, Mode

    preparing = Lock()
    applied: list[Applied] = []
    codes: list[int] = []

    def apply(job: Built, report: Callable[[Event], None]) -> Applied:
        engine = engines.of(job.loaded)
        name = job.loaded.job.metadata.name
        policy = job.loaded.job.spec.policy.when_changed
        consent = asked._replace(policy=policy, approved=approved.get(name))
        with preparing:
            work = with_origin(work_of(job), job.loaded)

        def counting(event: Event) -> None:
            tally.note(name, event)
            report(event)

        is_foreground = backend_of(job.loaded.target).is_foreground
        if is_foreground and mode is Mode.none and job.loaded.code is not None:
            from paddlespec.report.travels import summary

            report(Event(f"{name}: {summary(job.loaded.code)}"))
        run = engine.apply(work, mode, counting, consent)
        return Applied(name, engine, run, is_foreground, job.loaded.file)

    def finish(job: Built, outcome: Applied | OperationFailed) -> None:
        name = job.loaded.job.metadata.name
        tally.note(name)
        if isinstance(outcome, OperationFailed):
            outcome.hint = pasted(outcome.hint, job.loaded.file)
            codes.append(report_failure(name, outcome))
            tally.failed(name, outcome)
            return
        applied.append(outcome)
        run = outcome.run
        tally.results.update(name, namespace=run.namespace, uid=run.uid)
        if mode is Mode.client:
            from paddlespec.spec.emit import dump_all

            write.data(dump_all(run.sent or run.work.manifests))

    show = note_event if mode is Mode.client else tally.results.show
    concurrently(built, at_once(built), apply, engines, show, finish)
    return applied, codes


def at_once(built: Iterable[Built]) -> int:
    """How many jobs may be worked on in parallel; runs in the foreground take turns."""
    targets = {job.loaded.target for job in built}
    return 1 if any(backend_of(target).is_foreground for target in targets) else _AT_ONCE


def wait_for_all(
    applied: Sequence[Applied],
    until: Until,
    tally: Tally,
    before_end: Callable[[Run], None],
    *,
    quiet: bool,
    no_color: bool = False,
) -> list[int]:
    """
    Look at all jobs in turn until each is where it should be, or cannot get there.

    *before_end* is called before the end of a run is printed.
    """
    from paddlespec.runs.backoff import Backoff
    from paddlespec.runs.failures import JobFailed, OperationFailed, TimeRanOut

    codes = []
    pauses = Backoff().pauses()
    alone = not any(job.is_foreground for job in applied)
    shown = board(quiet=quiet, no_color=no_color, alone=alone)

    def fail(job: Applied, error: OperationFailed) -> None:
        shown.drop(job.name)
        error.hint = pasted(error.hint, job.file)
        codes.append(report_failure(job.name, error))
        if isinstance(error, JobFailed):
            write.note(f"next: paddlespec logs {job.name}{_where(job)}")
            if job.file != "-":
                write.note(f"      {again(job.file, '--rerun')}")
        tally.failed(job.name, error)

    pending = list(applied)
    try:
        while pending:
            began = time.monotonic()
            _fetch(pending)
            for job in tuple(pending):
                try:
                    progress = job.engine.look(job.run, until)
                except OperationFailed as error:
                    pending.remove(job)
                    before_end(job.run)
                    fail(job, error)
                    continue
                if progress.done:
                    pending.remove(job)
                    before_end(job.run)
                shown.show(job.name, progress)
            shown.paint()
            if pending:
                took = time.monotonic() - began
                pending[0].engine.pause(max(next(pauses), _IDLE * took))
    except TimeRanOut:
        for job in pending:
            last = shown.last.get(job.name, "nothing seen yet")
            fail(job, TimeRanOut(f"timed out waiting until {until.value}: {last}"))
    finally:
        shown.clear()
    return codes


def _where(job: Applied) -> str:
    """The option that finds the logs of a job that is over."""
    return " --target local" if job.is_foreground else ""


def _fetch(pending: Sequence[Applied]) -> None:
    """Let each engine fetch at once what it needs for all its jobs."""
    for engine in dict.fromkeys(job.engine for job in pending):
        if engine.capabilities.prefetch is not None:
            runs = [job.run for job in pending if job.engine is engine]
            engine.capabilities.prefetch.before_look(runs)
