"""`-v`: print each request to a cluster on stderr."""

from __future__ import annotations

import sys
from typing import Any

from typer.core import TyperOption


def add_to(command: Any) -> None:
    """Give `-v` to a command that takes a kubeconfig."""
    if any("--kubeconfig" in parameter.opts for parameter in command.params):
        command.params.append(
            TyperOption(
                param_decls=["-v", "--verbose"],
                is_flag=True,
                expose_value=False,
                callback=_log_requests,
                help="Print each request to the cluster on stderr.",
            )
        )


def _log_requests(_context: object, _parameter: object, is_given: bool) -> None:
    if is_given:
        import logging

        from paddlespec.backends.protocols import REQUEST_LOG

        log = logging.getLogger(REQUEST_LOG)
        handler = logging.StreamHandler(sys.stderr)
        handler.addFilter(_visible)
        log.addHandler(handler)
        log.setLevel(logging.DEBUG)
        log.propagate = False


def _visible(record: Any) -> bool:
    """Print each record on one line: paths hold names that others chose."""
    from paddlespec.report.width import visible

    record.msg, record.args = visible(record.getMessage()), ()
    return True
