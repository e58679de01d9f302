"""`get spec`: the spec that was applied."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.recorded_runs import Number, numbered


def spec(
    *,
    given: options.Job,
    run: Number = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="yaml|json", help="Output format.")
    ] = "yaml",
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    Print the spec that was applied, with all layers merged.

    Secrets are masked. Only the specs of the latest runs are kept.

    \b
    paddlespec get spec word2vec
    paddlespec get spec word2vec --run 3
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import job_at
    from paddlespec.report.runs import parsed

    listing.check(output, ("yaml", "json"))
    with Engines(cluster.request()) as engines:
        job = job_at(given, place, cluster.namespace, engines)
        recorded = engines.of_job(job).record(job.name)
    record = numbered(recorded, run)
    if record.spec is None:
        raise Stop(
            Exit.refused,
            f"the spec of run {record.number} of {recorded.job} is no longer kept",
            f"see the commit of each run: paddlespec get history {recorded.job}",
        )
    # Read and written again: what is stored in a cluster may be anything.
    listing.write_data(output, parsed(record.spec))
    return Exit.done
