"""Run the command line in this process, as a person would."""

from __future__ import annotations

import logging
import signal
import sys
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.protocols import REQUEST_LOG
from paddlespec.cli.app import main
from paddlespec.cli.shared.exits import run

if TYPE_CHECKING:
    import pytest


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def invoked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Run `paddlespec` with *arguments*; changes of signals and logging are undone."""
    argv, handler = sys.argv, signal.getsignal(signal.SIGTERM)
    sys.argv = ["paddlespec", *arguments]
    capsys.readouterr()
    try:
        code = run(main)
    finally:
        sys.argv = argv
        signal.signal(signal.SIGTERM, handler)
        logging.getLogger(REQUEST_LOG).handlers.clear()
        logging.getLogger(REQUEST_LOG).setLevel(logging.NOTSET)
    return Ended(code, *capsys.readouterr())
