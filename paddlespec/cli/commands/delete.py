"""`delete`: stop jobs, and delete their data and history too."""

from __future__ import annotations

from paddlespec.cli.shared import options
from paddlespec.cli.shared.removal import Removal, remove


def delete(
    *,
    jobs: options.Jobs,
    layers: options.Layers,
    cluster: options.Cluster,
    removal: Removal,
) -> int:
    """
    Delete jobs, with their volume claims, data and history.

    Deletes everything that was created for a job and waits until its pods have ended. A name
    without --target means the rehearsal on this machine while one runs, or if there is no
    kubeconfig; otherwise the job in the cluster.

    \b
    paddlespec delete word2vec
    paddlespec delete -f paddlejob.yaml --ignore-not-found
    """
    return remove(jobs, layers, cluster, removal, claims=True)
