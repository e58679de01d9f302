"""`registry delete`: delete a pull secret."""

from __future__ import annotations

from paddlespec.cli.shared import options, pull_secrets
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit


def delete(
    name: pull_secrets.Name,
    *,
    datacenter: options.Datacenter = None,
    cluster: options.Cluster,
) -> int:
    """
    Delete a pull secret that `registry add` wrote.

    Pull secrets that others wrote are never deleted.

    \b
    paddlespec registry delete team-registry
    """
    with pull_secrets.pull_secrets_of(cluster, datacenter, "registry delete") as place:
        place.pull_secrets.delete(name)
    write.lines([f"Secret/{name} deleted"])
    return Exit.done
