"""`get history` and `get spec`: what is recorded of the runs of jobs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import listing, local, options
from paddlespec.cli.exits import Exit, Stop, worst
from paddlespec.cli.seen import HELP, METAVAR, the_job, usual

if TYPE_CHECKING:
    from paddlespec.history import Recorded, RunRecord

Number = Annotated[int | None, typer.Option("--run", metavar="N", min=1, help="Only this run.")]


def history(
    name: Annotated[str | None, typer.Argument(metavar=f"[{METAVAR}]", help=HELP)] = None,
    run: Number = None,
    output: listing.Form = "table",
    everywhere: listing.Everywhere = False,
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show the runs of a job, or the latest run of every job.

    Also of jobs that were killed or whose objects are gone, until `delete` forgets them. With
    --run and -o yaml or json, the spec that was applied is part of it, secrets masked.

    \b
    paddlespec get history
    paddlespec get history word2vec -o wide
    paddlespec get history word2vec --run 3 -o yaml
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import failed

    listing.check(output)
    if name is None and run is not None:
        raise Stop(Exit.usage, "--run needs the name of a job")
    if name is not None and everywhere:
        raise Stop(Exit.usage, f"-A shows the jobs of every namespace, and {name} is one")
    with Engines(kubeconfig, context, namespace, None) as engines:
        if name is not None:
            job = the_job(name, target, datacenter, namespace)
            recorded = engines.meant(job).record(job.name)
            if run is not None and output in ("json", "yaml"):
                _show_one(recorded, _numbered(recorded, run), output)
            else:
                chosen = recorded if run is None else _only(recorded, _numbered(recorded, run))
                _show([chosen], output, spaces=False)
            return Exit.done
        found, failures = usual(engines, target).records(everywhere=everywhere)
    _show_jobs(found, output, everywhere=everywhere)
    return worst([failed(word, error) for word, error in failures])


def spec(
    name: Annotated[str, typer.Argument(metavar=METAVAR, help=HELP)],
    run: Number = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="yaml|json", help="Form of the output.")
    ] = "yaml",
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show the spec that was applied, every layer merged, secrets masked.

    \b
    paddlespec get spec word2vec
    paddlespec get spec word2vec --run 3
    """
    from paddlespec.cli.places import Engines
    from paddlespec.report.runs import parsed

    listing.check(output, ("yaml", "json"))
    with Engines(kubeconfig, context, namespace, None) as engines:
        job = the_job(name, target, datacenter, namespace)
        recorded = engines.meant(job).record(job.name)
    record = _numbered(recorded, run)
    if record.spec is None:
        raise Stop(
            Exit.refused,
            f"the spec of run {record.number} of {recorded.job} is not kept",
            "only the latest ones are; the commit of each run: paddlespec get history "
            f"{recorded.job}",
        )
    if output == "yaml":
        sys.stdout.write(record.spec)
    else:
        listing.write_data(output, parsed(record.spec))
    return Exit.done


def _numbered(recorded: Recorded, number: int | None) -> RunRecord:
    """The run *number*, or the latest one of which something was there."""
    runs = recorded.history.runs
    if number is None:
        found = recorded.history.ran or recorded.history.latest
    else:
        found = next((each for each in runs if each.number == number), None)
    if found is not None:
        return found
    if not runs:
        raise Stop(Exit.refused, f"no run of {recorded.job} is recorded")
    known = f"{runs[0].number} to {runs[-1].number}" if len(runs) > 1 else str(runs[0].number)
    told = f"no run {number} of {recorded.job} is recorded"
    raise Stop(Exit.refused, told, f"known: {known}")


def _only(recorded: Recorded, run: RunRecord) -> Recorded:
    return recorded._replace(history=recorded.history._replace(runs=(run,)))


def _show_jobs(found: list[Recorded], output: str, *, everywhere: bool) -> None:
    """The latest run of each job."""
    from paddlespec.cli.tell import note

    latest = [_only(each, each.history.latest) for each in found if each.history.latest]
    if not latest and output in ("table", "wide"):
        note("no job has run here")
    _show(latest, output, spaces=everywhere)


def _show(recorded: list[Recorded], output: str, *, spaces: bool) -> None:
    from datetime import datetime, timezone

    from paddlespec.report.runs import listed, runs

    now = datetime.now(timezone.utc)
    listing.show(
        output,
        lambda: listed(recorded),
        lambda: [f"{each.namespace}/{each.job}" if spaces else each.job for each in recorded],
        lambda wide, width: runs(recorded, now, spaces=spaces, wide=wide, width=width),
    )


def _show_one(recorded: Recorded, run: RunRecord, output: str) -> None:
    from paddlespec.report.runs import one

    listing.write_data(output, one(recorded, run))
