"""`get storages`: claims, storage classes, and the storages of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.capacity.storage import Named, Storages


def storages(
    *,
    everywhere: listing.Everywhere = False,
    output: listing.Form = "table",
    datacenter: options.Datacenter = None,
    cluster: options.Cluster,
) -> int:
    """
    List volume claims, storage classes and project storages.

    USED is what kubelets measure for mounted claims; reading it needs the right to `get
    nodes/proxy`.

    \b
    paddlespec get storages
    paddlespec get storages --datacenter dc1 -o wide
    """
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.places import capacity_of
    from paddlespec.cli.shared.unknowns import note_unknown
    from paddlespec.report.capacity import unknown_data
    from paddlespec.report.storages import claim_data, class_data, named_data, table

    listing.check(output)
    with capacity_of(cluster, datacenter, "get storages", everywhere=everywhere) as place:
        namespace = place.namespace
        found = place.capacity.storages(namespace)
        named = list(_named(found, datacenter, place.engine.namespace))
    note_unknown(found.unknown)
    nothing = not (found.claims or found.classes or named or found.unknown)
    if nothing and listing.is_table(output):
        note("no claims, no storage classes, and no storages in a project file")
    data = {
        "namespace": namespace or None,
        "claims": [claim_data(claim) for claim in found.claims],
        "classes": [class_data(one) for one in found.classes],
        "storages": [named_data(storage) for storage in named],
        "unknown": unknown_data(found.unknown),
    }
    shown = listing.Listing(
        lambda: data,
        lambda: _names(found, named),
        lambda wide, width: table(
            found.claims, found.classes, named, spaces=not namespace, wide=wide, width=width
        ),
    )
    listing.show(output, shown)
    return Exit.done


def _names(found: Storages, named: Sequence[Named]) -> Iterator[str]:
    yield from (f"claim/{claim.name}" for claim in found.claims)
    yield from (f"class/{one.name}" for one in found.classes)
    yield from (f"storage/{storage.name}" for storage in named)


def _named(found: Storages, datacenter: str | None, namespace: str) -> Iterator[Named]:
    """The storages that the project names for *datacenter*, or for the current one."""
    from paddlespec.capacity.storage import Named
    from paddlespec.cli.shared import datacenters
    from paddlespec.config.settings import place

    project = datacenters.project()
    chosen = place(datacenters.settings(), project, datacenter).datacenter.value
    shared: dict[str, Any] = (project.datacenters if project else {}).get(chosen or "", {})
    phases = {claim.name: claim.phase for claim in found.claims if claim.namespace == namespace}
    for name, storage in (shared.get("storages") or {}).items():
        claim = storage.get("claim")
        yield Named(
            chosen or "",
            name,
            claim,
            storage.get("url"),
            storage.get("local"),
            bool(storage.get("readOnly")),
            phases.get(claim) if claim else None,
        )
