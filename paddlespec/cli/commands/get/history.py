"""`get history`: the recorded runs of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit, Stop, worst
from paddlespec.cli.shared.recorded_runs import Number, latest_of, numbered, only

if TYPE_CHECKING:
    from paddlespec.runs.history import Recorded, RunRecord


def history(
    name: Annotated[
        str | None, typer.Argument(metavar=f"[{options.JOB}]", help=options.JOB_HELP)
    ] = None,
    *,
    file: options.File = None,
    run: Number = None,
    output: listing.Form = "table",
    everywhere: listing.Everywhere = False,
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    Show the runs of a job, or the latest run of every job.

    Includes jobs that were killed or have expired, until `delete` removes their history. With
    --run and -o yaml or json, prints the applied spec too; secrets are masked.

    \b
    paddlespec get history
    paddlespec get history word2vec -o wide
    paddlespec get history word2vec --run 3 -o yaml
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import job_at
    from paddlespec.cli.shared.output import report_failure

    listing.check(output)
    given = options.Job(name, file)
    is_one = name is not None or file is not None
    if not is_one and run is not None:
        raise Stop(Exit.usage, "--run needs the name of a job")
    if is_one and everywhere:
        raise Stop(Exit.usage, f"-A lists all jobs: remove it, or remove {name or file}")
    with Engines(cluster.request()) as engines:
        if is_one:
            job = job_at(given, place, cluster.namespace, engines)
            recorded = engines.of_job(job).record(job.name)
            if run is not None and output in ("json", "yaml"):
                _show_one(recorded, numbered(recorded, run), output)
            else:
                _show([recorded if run is None else only(recorded, run)], output, spaces=False)
            return Exit.done
        jobs, failures = engines.of_place(place).records(everywhere=everywhere)
    _show_jobs(jobs, output, everywhere=everywhere)
    return worst([report_failure(job, error) for job, error in failures])


def _show_jobs(jobs: list[Recorded], output: str, *, everywhere: bool) -> None:
    """The latest run of each job."""
    from paddlespec.cli.shared.output import note

    latest = [job for recorded in jobs if (job := latest_of(recorded)) is not None]
    if not latest and listing.is_table(output):
        note("no recorded runs")
    _show(latest, output, spaces=everywhere)


def _show(jobs: list[Recorded], output: str, *, spaces: bool) -> None:
    from datetime import datetime, timezone

    from paddlespec.report.runs import listed, runs

    now = datetime.now(timezone.utc)
    shown = listing.Listing(
        lambda: listed(jobs),
        lambda: [f"{job.namespace}/{job.job}" if spaces else job.job for job in jobs],
        lambda wide, width: runs(jobs, now, spaces=spaces, wide=wide, width=width),
    )
    listing.show(output, shown)


def _show_one(recorded: Recorded, run: RunRecord, output: str) -> None:
    from paddlespec.report.runs import one

    listing.write_data(output, one(recorded, run))
