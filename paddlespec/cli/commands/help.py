"""`help`: the help of a command."""

from __future__ import annotations

from typing import Annotated

import typer


def help_(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Command, such as get jobs [default: all]."),
    ] = None,
) -> int:
    """
    Print the help of a command.

    \b
    paddlespec help
    paddlespec help apply
    paddlespec help get jobs
    """
    from paddlespec.cli.app import called

    return called([*(words or ()), "--help"])
