"""`-v`: each request to a cluster, told on stderr; the same option for every command that makes any."""

from __future__ import annotations

import sys
from typing import Any

from typer.core import TyperOption

# Whoever sends requests logs them here, without headers and bodies: those hold secrets.
REQUESTS = "paddlespec.requests"


def add_to(command: Any) -> Any:
    """Give *command* and those below it `-v`, where they take a kubeconfig."""
    for each in getattr(command, "commands", {}).values():
        add_to(each)
    if any("--kubeconfig" in each.opts for each in command.params):
        command.params.append(
            TyperOption(
                param_decls=["-v", "--verbose"],
                is_flag=True,
                expose_value=False,
                callback=_tell,
                help="Show each request to the cluster as well, on stderr.",
            )
        )
    return command


def _tell(_context: object, _parameter: object, wanted: bool) -> None:
    if wanted:
        import logging

        log = logging.getLogger(REQUESTS)
        log.addHandler(logging.StreamHandler(sys.stderr))
        log.setLevel(logging.DEBUG)
        log.propagate = False
