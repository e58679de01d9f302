"""`wait`: until a job is where it should be, or cannot get there any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import local, options, seen
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.backend import Progress
    from paddlespec.cli.places import Engine
    from paddlespec.cli.tell import Lines
    from paddlespec.picture import JobState, Stage

_POLL_SECONDS = 1.0
_GONE, _UNTIL = "deleted", ("ready", "complete")


def wait(
    name: Annotated[str, typer.Argument(metavar=seen.METAVAR, help=seen.HELP)],
    wanted: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="ready|complete|deleted|STATE",
            help="STATE is one that `get jobs` shows, such as running or failed.",
        ),
    ] = "complete",
    timeout: options.Timeout = None,
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    quiet: options.Quiet = False,
) -> int:
    """
    Wait until every replica runs, the job has ended well, nothing of it is left, or for a state.

    Waiting until it is complete stops its pservers then. Exits with 4 when the job fails, with 5
    when time runs out, with 3 when it cannot get there otherwise.

    \b
    paddlespec wait word2vec
    paddlespec wait word2vec --for ready --timeout 10m
    paddlespec wait word2vec --for deleted
    """
    from paddlespec.backend import NotFound, OperationFailed
    from paddlespec.cli.places import Engines, deadline_of
    from paddlespec.cli.tell import Lines, failed, note

    stage = _stage(wanted)
    lines = Lines(quiet=quiet)
    with Engines(kubeconfig, context, namespace, deadline_of(timeout)) as engines:
        job = seen.the_job(name, target, datacenter, namespace)
        try:
            engine = engines.meant(job)
            if wanted == _GONE:
                _until_gone(engine, job.name, lines)
            elif stage is not None:
                _until_stage(engine, job.name, stage, lines)
            else:
                _until(engine, job.name, wanted, lines)
        except NotFound as error:
            if wanted != _GONE:
                return failed(job.name, error)
            note(error.message)
        except OperationFailed as error:
            last = lines.last.get(job.name)
            late = isinstance(error, _late()) and last and last not in error.message
            return failed(job.name, error, f": {last}" if late else "")
    return Exit.done


def _stage(wanted: str) -> Stage | None:
    from paddlespec.picture import Stage

    if wanted in (*_UNTIL, _GONE):
        return None
    known = [*_UNTIL, _GONE, *(each.value for each in Stage)]
    if wanted not in known:
        raise Stop(Exit.usage, f"--for {wanted}: expected one of {', '.join(known)}")
    return Stage(wanted)


def _until(engine: Engine, name: str, wanted: str, lines: Lines) -> None:
    """As long as an apply waits, and with the same verdict."""
    from paddlespec.backend import Until

    until = Until(wanted)
    run = None
    while True:
        run = run or engine.run_of(name)
        progress = engine.look(run, until) if run is not None else _soon()
        lines.tell(name, progress)
        if progress.done:
            return
        engine.pause(_POLL_SECONDS)


def _until_stage(engine: Engine, name: str, stage: Stage, lines: Lines) -> None:
    from paddlespec.backend import JobFailed, OperationFailed, Progress

    while True:
        job = engine.glance(name).job
        lines.tell(name, Progress(False, True, _told(job)))
        if job.stage is stage:
            return
        if job.stage.is_over:
            kind = JobFailed if job.stage.is_failure else OperationFailed
            raise kind(f"it is {_told(job)}, and will not be {stage.value} any more")
        engine.pause(_POLL_SECONDS)


def _until_gone(engine: Engine, name: str, lines: Lines) -> None:
    while True:
        progress = engine.remaining(name, claims=False)
        if progress.done:
            engine.glance(name)  # a name that nobody knows is told
            return
        lines.tell(name, progress)
        engine.pause(_POLL_SECONDS)


def _told(job: JobState) -> str:
    return job.stage.value + (f": {job.why}" if job.why else "")


def _soon() -> Progress:
    from paddlespec.backend import Progress

    return Progress(False, True, "is about to begin")


def _late() -> type[Exception]:
    from paddlespec.backend import TimeRanOut

    return TimeRanOut
