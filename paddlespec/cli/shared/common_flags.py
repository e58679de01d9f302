"""`-q` and `--no-color`, for every command that does not declare them itself."""

from __future__ import annotations

import os
from typing import Any, get_args

from typer.core import TyperOption

from paddlespec.cli.shared import options, output


def add_to(command: Any) -> None:
    """Give *command* the flags that it does not declare."""
    declared = {name for parameter in command.params for name in parameter.opts}
    flags = (
        (["--no-color"], options.NoColor, _without_color),
        (["-q", "--quiet"], options.Quiet, _quiet),
    )
    for names, declaration, callback in flags:
        if declared.isdisjoint(names):
            _, info = get_args(declaration)
            option = TyperOption(
                param_decls=names,
                is_flag=True,
                expose_value=False,
                callback=callback,
                help=info.help,
            )
            command.params.append(option)


def _without_color(_context: object, _parameter: object, is_given: bool) -> None:
    if is_given:
        os.environ["NO_COLOR"] = "1"


def _quiet(_context: object, _parameter: object, is_given: bool) -> None:
    output.Notes.are_hidden = is_given
