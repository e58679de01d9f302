"""`get registries` and `registry list`: the pull secrets of a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.listing import Listing

if TYPE_CHECKING:
    from paddlespec.backends.capabilities import PullSecret


def registries(
    *,
    everywhere: listing.Everywhere = False,
    output: listing.Form = "table",
    datacenter: options.Datacenter = None,
    cluster: options.Cluster,
) -> int:
    """
    List the pull secrets of a namespace, or of all.

    Passwords are never printed or stored.

    \b
    paddlespec registry list
    paddlespec get registries
    paddlespec get registries -o json
    """
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.pull_secrets import pull_secrets_of

    listing.check(output)
    listing.refuse_two_scopes(cluster.namespace, everywhere=everywhere)
    with pull_secrets_of(cluster, datacenter, "get registries") as place:
        found, namespace = place.pull_secrets.all(everywhere=everywhere), place.namespace
    if not found and listing.is_table(output):
        note("no pull secrets" if everywhere else f"no pull secrets in namespace {namespace}")
    listing.show(output, _listing(found, spaces=everywhere))
    return Exit.done


def _listing(found: list[PullSecret], *, spaces: bool) -> Listing:
    from paddlespec.report.table import Column, table

    columns = (
        Column("NAMESPACE", wide=not spaces),
        *(Column(head) for head in ("NAME", "SERVER", "USER", "OURS")),
        Column("CREATED", wide=True),
    )
    rows = [
        (
            secret.namespace,
            secret.name,
            ",".join(secret.servers),
            ",".join(secret.users),
            "yes" if secret.is_ours else "no",
            secret.created,
        )
        for secret in found
    ]
    data = [
        {
            "namespace": secret.namespace,
            "name": secret.name,
            "servers": list(secret.servers),
            "users": list(secret.users),
            "ours": secret.is_ours,
            "created": secret.created or None,
        }
        for secret in found
    ]
    return Listing(
        lambda: {"registries": data},
        lambda: [
            f"{secret.namespace}/{secret.name}" if spaces else secret.name for secret in found
        ],
        lambda wide, width: table(columns, rows, wide=wide, width=width),
    )
