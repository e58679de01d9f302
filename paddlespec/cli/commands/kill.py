"""`kill`: stop jobs and keep their data."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import options
from paddlespec.cli.shared.removal import Removal, remove


def kill(
    *,
    jobs: options.Jobs,
    layers: options.Layers,
    cluster: options.Cluster,
    rm: Annotated[bool, typer.Option("--rm", help="Delete the job, as `delete` does.")] = False,
    removal: Removal,
) -> int:
    """
    Stop jobs; keep their volume claims and history.

    Deletes the objects of a job and waits until its pods have ended. A name without --target means
    the rehearsal on this machine while one runs, or if there is no kubeconfig; otherwise the job in
    the cluster.

    \b
    paddlespec kill word2vec
    paddlespec kill jobs/word2vec/paddlejob.yaml --yes
    """
    return remove(jobs, layers, cluster, removal, claims=rm)
