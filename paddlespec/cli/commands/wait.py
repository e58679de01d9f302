"""`wait`: until a job is in a state, or cannot get there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import job_refs, options
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.values import deadline_of, one_of

if TYPE_CHECKING:
    from paddlespec.backends.protocols import Engine
    from paddlespec.cli.shared.output import Lines
    from paddlespec.runs.state import JobState, Stage

_DELETED, _UNTIL = "deleted", ("ready", "complete")


def wait(
    *,
    given: options.Job,
    state: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="ready|complete|deleted|STATE",
            help="Wait for this; a STATE is one that `get jobs` shows, such as running.",
        ),
    ] = "complete",
    timeout: options.Timeout = None,
    place: options.JobPlace,
    cluster: options.Cluster,
    quiet: options.Quiet = False,
) -> int:
    """
    Wait until a job is ready, complete, deleted, or in a state.

    Ready means that all replicas run; complete, that the job succeeded: its pservers are stopped
    then. Exits with 4 if the job fails, with 5 on timeout, with 3 if it cannot get there.

    \b
    paddlespec wait word2vec
    paddlespec wait word2vec --for ready --timeout 10m
    paddlespec wait word2vec --for deleted
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.output import Lines, note, report_failure
    from paddlespec.runs.failures import NotFound, OperationFailed, TimeRanOut

    stage = _stage(state)
    lines = Lines(quiet=quiet)
    with Engines(cluster.request(deadline_of(timeout))) as engines:
        job = job_refs.job_at(given, place, cluster.namespace, engines)
        try:
            engine = engines.of_job(job)
            if state == _DELETED:
                _until_deleted(engine, job.name, lines)
            elif stage is not None:
                _until_stage(engine, job.name, stage, lines)
            else:
                _until(engine, job.name, state, lines)
        except NotFound as error:
            if state != _DELETED:
                return report_failure(job.name, error)
            note(error.message)
        except OperationFailed as error:
            last = lines.last.get(job.name)
            is_news = isinstance(error, TimeRanOut) and last and last not in error.message
            return report_failure(job.name, error, f": {last}" if is_news else "")
    return Exit.done


def _stage(state: str) -> Stage | None:
    """The stage to wait for, unless *state* is one of the other words."""
    from paddlespec.runs.state import Stage

    words = (*_UNTIL, _DELETED)
    one_of("--for", state, [*words, *(stage.value for stage in Stage)])
    return None if state in words else Stage(state)


def _until(engine: Engine, name: str, state: str, lines: Lines) -> None:
    """Wait as an apply does, with the same verdict."""
    from paddlespec.runs.backoff import Backoff
    from paddlespec.runs.values import Progress, Until

    until = Until(state)
    pauses = Backoff().pauses()
    run = None
    while True:
        run = run or engine.run_of(name)
        if run is not None:
            progress = engine.look(run, until)
        else:
            progress = Progress(False, True, "about to start")
        lines.show(name, progress)
        if progress.done:
            return
        engine.pause(next(pauses))


def _until_stage(engine: Engine, name: str, stage: Stage, lines: Lines) -> None:
    from paddlespec.runs.backoff import Backoff
    from paddlespec.runs.failures import JobFailed, OperationFailed
    from paddlespec.runs.values import Progress

    pauses = Backoff().pauses()
    while True:
        job = engine.glance(name).job
        lines.show(name, Progress(False, True, _text(job)))
        if job.stage is stage:
            return
        if job.stage.is_over:
            kind = JobFailed if job.stage.is_failure else OperationFailed
            raise kind(f"job is {_text(job)}, so it cannot become {stage.value}")
        engine.pause(next(pauses))


def _until_deleted(engine: Engine, name: str, lines: Lines) -> None:
    from paddlespec.runs.backoff import Backoff

    pauses = Backoff().pauses()
    while True:
        progress = engine.remaining(name, claims=False)
        if progress.done:
            engine.glance(name)  # raises `NotFound` for an unknown name
            return
        lines.show(name, progress)
        engine.pause(next(pauses))


def _text(job: JobState) -> str:
    return job.stage.value + (f": {job.why}" if job.why else "")
