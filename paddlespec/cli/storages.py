"""`get storages`: claims, storage classes, and the storages that the project names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cli import listing, options, reach
from paddlespec.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.capacity.storage import Named
    from paddlespec.cluster.storages import Storages


def storages(
    everywhere: reach.Everywhere = False,
    output: listing.Form = "table",
    datacenter: reach.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show where data can be: claims of the namespace, storage classes, storages of the project.

    USED is what kubelets measure of claims that are mounted, which only those see who may `get
    nodes/proxy`.

    \b
    paddlespec get storages
    paddlespec get storages --datacenter dc1 -o wide
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import note
    from paddlespec.cluster import storages as seen
    from paddlespec.report.capacity import unknown_data
    from paddlespec.report.storages import claim_data, class_data, named_data, table

    listing.check(output)
    with Engines(kubeconfig, context, namespace, None) as engines:
        client = reach.client(engines, datacenter)
        space = reach.space(client, namespace, everywhere=everywhere)
        found = seen.storages(client, space)
    named = list(_named(found, datacenter, client.namespace))
    reach.tell(found.unknown)
    nothing = not (found.claims or found.classes or named or found.unknown)
    if nothing and output in ("table", "wide"):
        note("no claim, no storage class, and no storage in a project file")
    data = {
        "namespace": space or None,
        "claims": [claim_data(each) for each in found.claims],
        "classes": [class_data(each) for each in found.classes],
        "storages": [named_data(each) for each in named],
        "unknown": unknown_data(found.unknown),
    }
    listing.show(
        output,
        lambda: data,
        lambda: _names(found, named),
        lambda wide, width: table(
            found.claims, found.classes, named, spaces=not space, wide=wide, width=width
        ),
    )
    return Exit.done


def _names(found: Storages, named: Sequence[Named]) -> Iterator[str]:
    yield from (f"claim/{each.name}" for each in found.claims)
    yield from (f"class/{each.name}" for each in found.classes)
    yield from (f"storage/{each.name}" for each in named)


def _named(found: Storages, datacenter: str | None, space: str) -> Iterator[Named]:
    """What the project says of *datacenter*, or of the one that it means here."""
    from paddlespec.capacity.storage import Named
    from paddlespec.cli import connect
    from paddlespec.settings import place

    project = connect.here()
    chosen = place(connect.own(), project, datacenter).datacenter.value
    shared: dict[str, Any] = (project.datacenters if project else {}).get(chosen or "", {})
    phases = {each.name: each.phase for each in found.claims if each.namespace == space}
    for name, each in (shared.get("storages") or {}).items():
        claim = each.get("claim")
        yield Named(
            chosen or "",
            name,
            claim,
            each.get("url"),
            each.get("local"),
            bool(each.get("readOnly")),
            phases.get(claim) if claim else None,
        )
