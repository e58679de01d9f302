"""`kill`: stop jobs and keep their data."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import options, results
from paddlespec.cli.shared.values import deadline_of, one_of


def kill(
    *,
    jobs: options.Jobs,
    layers: options.Layers,
    cluster: options.Cluster,
    rm: Annotated[bool, typer.Option("--rm", help="Delete the job, as `delete` does.")] = False,
    ignore_not_found: options.IgnoreNotFound = False,
    no_wait: options.NoWait = False,
    force_unlock: options.ForceUnlock = False,
    timeout: options.Timeout = None,
    output: results.Form = "text",
    yes: options.Yes = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Stop jobs; keep their volume claims and history.

    Deletes the objects of a job and waits until none of its pods is left. A name without --target
    means the rehearsal on this machine while one runs, or if there is no kubeconfig; otherwise the
    job in the cluster.

    \b
    paddlespec kill word2vec
    paddlespec kill jobs/word2vec/paddlejob.yaml --yes
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import job_refs
    from paddlespec.cli.shared.wait_deleted import Removal, remove_all

    removal = Removal(
        claims=rm,
        ignore_absent=ignore_not_found,
        no_wait=no_wait,
        force_unlock=force_unlock,
        yes=yes,
        quiet=quiet,
        output=one_of("-o", output, results.FORMS),
    )
    refs = job_refs(jobs.names, jobs.file, layers.choices(), cluster.namespace)
    with Engines(cluster.request(deadline_of(timeout))) as engines:
        return remove_all(refs, engines, removal)
