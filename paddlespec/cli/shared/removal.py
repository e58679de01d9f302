"""`kill` and `delete`: remove jobs, and wait until their pods have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared import options, results
from paddlespec.cli.shared.exits import Exit, worst
from paddlespec.cli.shared.output import (
    Lines,
    confirm,
    is_interactive,
    note,
    report_failure,
)
from paddlespec.cli.shared.values import deadline_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.protocols import Engine
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import JobRef
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Contents


class Removal(NamedTuple):
    """How jobs are removed."""

    ignore_not_found: options.IgnoreNotFound = False
    no_wait: options.NoWait = False
    force_unlock: options.ForceUnlock = False
    timeout: options.Timeout = None
    output: results.Form = "text"
    yes: options.Yes = False
    quiet: options.Quiet = False


def remove(
    jobs: options.Jobs,
    layers: options.Layers,
    cluster: options.Cluster,
    removal: Removal,
    *,
    claims: bool,
) -> int:
    """Remove jobs and wait, with *claims* also their data and history; return the exit code."""
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import job_refs

    outcome = results.Results(removal.output)
    refs = job_refs(jobs.names, jobs.file, layers.choices(), cluster.namespace)
    with Engines(cluster.request(deadline_of(removal.timeout))) as engines:
        return _remove_all(refs, engines, removal, outcome, claims=claims)


def _remove_all(
    jobs: Sequence[JobRef],
    engines: Engines,
    removal: Removal,
    outcome: results.Results,
    *,
    claims: bool,
) -> int:
    """Remove all jobs; one that fails does not stop the others."""
    from paddlespec.runs.failures import NotFound, OperationFailed

    codes: list[int] = []
    pending: list[tuple[str, Engine]] = []
    outcome.expect(job.name for job in jobs)

    def fail(name: str, error: OperationFailed, more: str = "") -> None:
        outcome.failed(name, error)
        codes.append(report_failure(name, error, more))

    for job in jobs:
        try:
            engine = engines.of_job(job)
            outcome.update(job.name, namespace=engine.namespace)
            contents = engine.contents(job.name, claims=claims)
            if not _confirmed(job.name, contents, removal, claims=claims):
                note(f"{job.name} is not changed")
                outcome.update(job.name, result="kept")
                codes.append(Exit.refused)
                continue
            engine.remove(
                *(job.name, outcome.reporter(job.name)),
                claims=claims,
                force_unlock=removal.force_unlock,
            )
        except NotFound as error:
            if removal.ignore_not_found:
                note(error.message)
                outcome.update(job.name, result="absent")
            else:
                fail(job.name, error)
        except OperationFailed as error:
            fail(job.name, error)
        else:
            outcome.update(job.name, result="removed")
            pending.append((job.name, engine))
    if not removal.no_wait:
        _wait_until_deleted(pending, removal, fail, claims=claims)
    outcome.write()
    return worst(codes)


def _wait_until_deleted(
    pending: list[tuple[str, Engine]],
    removal: Removal,
    fail: Callable[[str, OperationFailed, str], None],
    *,
    claims: bool,
) -> None:
    """Wait for jobs; *fail* takes a name, an error, and what to add to its message."""
    from paddlespec.runs.backoff import Backoff
    from paddlespec.runs.failures import OperationFailed

    lines = Lines(quiet=removal.quiet)
    for name, engine in pending:
        pauses = Backoff().pauses()
        try:
            while not (progress := engine.remaining(name, claims=claims)).done:
                lines.show(name, progress)
                engine.pause(next(pauses))
        except OperationFailed as error:
            last = lines.last.get(name)
            fail(name, error, f": {last}" if last else "")


def _confirmed(name: str, contents: Contents, removal: Removal, *, claims: bool) -> bool:
    """Ask a person at a terminal; scripts are not asked."""
    if removal.yes or not is_interactive():
        return True
    running = ", ".join(f"{count} {role}" for role, count in sorted(contents.replicas.items()))
    since = f" for {_age(contents.since)}" if running and contents.since else ""
    state = f"{running} running{since}" if running else "not running"
    verb, more = ("delete", ", with its volume claims and their data") if claims else ("kill", "")
    return confirm(f"{verb} job {name} ({state}){more}?")


def _age(since: str) -> str:
    """How long ago a time was, in its largest unit."""
    from datetime import datetime, timezone

    try:
        start = datetime.strptime(since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return "some time"
    passed = max(0, int((datetime.now(timezone.utc) - start).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if passed >= length:
            return f"{passed // length}{unit}"
    return f"{passed}s"
