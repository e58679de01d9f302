"""`config view`: where commands go without options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paddlespec.cli.shared import config_file, datacenters, listing
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit


def view(
    *,
    show_origin: Annotated[
        bool, typer.Option("--show-origin", help="Print which file sets each value.")
    ] = False,
    datacenter: Annotated[
        str | None,
        typer.Option("--datacenter", metavar="NAME", help="Show this one, not the current one."),
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="yaml|json", help="Output format.")
    ] = "yaml",
) -> int:
    """
    Show the datacenter, context and namespace in use.

    These are what commands use without options. Contacts no cluster.

    \b
    paddlespec config view --show-origin
    """
    from paddlespec.config.settings import place

    listing.check(output, ("yaml", "json"))
    settings, project = datacenters.settings(), datacenters.valid_project()
    known = datacenters.names()
    if datacenter is not None and datacenter not in known:
        raise config_file.unknown_datacenter(datacenter, known)
    values = place(settings, project, datacenter)._asdict()
    if show_origin and output == "yaml":
        rows = {f"{key}: {value.value or '-'}": value.origin for key, value in values.items()}
        width = max(map(len, rows))
        write.lines(f"{row:<{width}}  # {origin}" for row, origin in rows.items())
        return Exit.done
    data: Any = {key: value.value for key, value in values.items()}
    if show_origin:
        data = {key: value._asdict() for key, value in values.items()}
    listing.write_data(output, data)
    return Exit.done
