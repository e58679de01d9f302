"""`config unset`: remove values of a configuration."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import config_file
from paddlespec.cli.shared.exits import Exit


def unset(
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Values to remove.")],
    *,
    project: config_file.InProject = False,
) -> int:
    """
    Remove values of your configuration or the project.

    \b
    paddlespec config unset datacenter
    """
    from paddlespec.diagnostic import Span
    from paddlespec.spec.update import Update, parts_of

    file = config_file.opened(project=project)
    for key in keys:
        path = parts_of(key, Update(key, (), "remove", option=""))
        file = file.put(path, None, Span(key), "remove")
    file.write_and_note()
    return Exit.done
