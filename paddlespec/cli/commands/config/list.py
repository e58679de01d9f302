"""`config list`: the datacenters, and where each connection comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared import datacenters, listing
from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator


class Row(NamedTuple):
    """One datacenter."""

    name: str
    current: bool
    context: str | None
    namespace: str | None
    files: tuple[str, ...]


def list_datacenters(*, output: listing.Form = "table") -> int:
    """
    List datacenters of the project and your own.

    A star marks the current one. Contacts no cluster.

    \b
    paddlespec config list
    paddlespec config list -o name
    """
    from paddlespec.report.table import Column, table

    listing.check(output)
    found = list(_rows())
    columns = (Column(""), *map(Column, ("NAME", "CONTEXT", "NAMESPACE", "FROM")))
    rows = [
        (
            "*" if row.current else "",
            row.name,
            row.context or "",
            row.namespace or "",
            "+".join(row.files),
        )
        for row in found
    ]
    data = [
        {
            "name": row.name,
            "current": row.current,
            "context": row.context,
            "namespace": row.namespace,
            "from": list(row.files),
        }
        for row in found
    ]
    shown = listing.Listing(
        lambda: {"datacenters": data},
        lambda: [row.name for row in found],
        lambda wide, width: table(columns, rows, wide=wide, width=width),
    )
    listing.show(output, shown)
    return Exit.done


def _rows() -> Iterator[Row]:
    from paddlespec.config.settings import place

    settings, project = datacenters.settings(), datacenters.valid_project()
    current = place(settings, project).datacenter.value
    own = dict.fromkeys([*settings.connections, *(project.datacenters if project else ())])
    for name in own:
        there = place(settings, project, name)
        files = ["project"] if project and name in project.datacenters else []
        files += ["own"] if name in settings.connections else []
        yield Row(name, name == current, there.context.value, there.namespace.value, tuple(files))
