"""`get jobs`: what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit, Stop, worst
from paddlespec.cli.shared.listing import Listing

if TYPE_CHECKING:
    from paddlespec.runs.state import JobState
    from paddlespec.selector import Selector


def jobs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME...]", help="Only these jobs, finished or not."),
    ] = None,
    *,
    over: Annotated[
        bool,
        typer.Option("-a", "--all", help="Include finished jobs, even deleted or expired ones."),
    ] = False,
    everywhere: listing.Everywhere = False,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Filter by who applied the job.")
    ] = None,
    selector: Annotated[
        str | None,
        typer.Option(
            "-l",
            "--selector",
            metavar="LABELS",
            help="Filter by label, for example team=ads,!old.",
        ),
    ] = None,
    watch: listing.Watch = False,
    output: listing.Form = "table",
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    List running jobs.

    Shows the jobs of the cluster that kubectl would use or --datacenter names, or of this machine
    with --target local and if there is no kubeconfig. DONE and FAIL count replicas; -o wide adds queue, times, run
    and user.

    \b
    paddlespec get jobs
    paddlespec get jobs word2vec ctr
    paddlespec get jobs -a -A --user alice
    paddlespec get jobs -l team=ads -o wide
    paddlespec get jobs --target local -w
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.output import note, problem, report_failure
    from paddlespec.cli.shared.watch import follow_list

    listing.check(output)
    listing.refuse_two_scopes(cluster.namespace, everywhere=everywhere)
    labels = _selector(selector)
    with Engines(cluster.request()) as engines:
        engine = engines.of_place(place)

        def look() -> tuple[list[JobState], list[int]]:
            states, failures = engine.job_states(everywhere=everywhere, over=over or bool(names))
            shown = [
                job
                for job in states
                if user in (None, job.user)
                and labels.matches(job.labels)
                and (not names or job.name in names)
            ]
            return shown, [report_failure(name, error) for name, error in failures]

        if watch:
            follow_list(
                lambda: look()[0],
                lambda job: (job.namespace, job.name),
                lambda shown: _listing(shown, spaces=everywhere),
                engine.pause,
                output,
            )
        states, codes = look()
        where = "" if everywhere or states else f" in namespace {engine.namespace}"
    missing = set(names or ()) - {job.name for job in states}
    for name in sorted(missing):
        problem(f"no job {name}{where}")
        codes.append(Exit.refused)
    if not states and not names and listing.is_table(output):
        what = "no jobs" if over or user or selector else "no running jobs"
        note(f"{what}{where}" + ("" if over else " (use -a to include finished jobs)"))
    listing.show(output, _listing(states, spaces=everywhere))
    return worst(codes)


def _selector(text: str | None) -> Selector:
    from paddlespec.selector import Selector, parse

    try:
        return Selector() if text is None else parse(text)
    except ValueError as error:
        hint = "for example team=ads, team!=ads, team, !team or team in (ads,maps)"
        raise Stop(Exit.usage, f'invalid selector "{text}": at "{error}"', hint) from None


def _listing(states: list[JobState], *, spaces: bool) -> Listing:
    from datetime import datetime, timezone

    from paddlespec.report.jobs import job_data
    from paddlespec.report.jobs import jobs as table

    now = datetime.now(timezone.utc)
    return Listing(
        lambda: {"jobs": [job_data(job) for job in states]},
        lambda: [f"{job.namespace}/{job.name}" if spaces else job.name for job in states],
        lambda wide, width: table(
            states, now, spaces=spaces, wide=wide, width=width, color=listing.is_colored()
        ),
    )
