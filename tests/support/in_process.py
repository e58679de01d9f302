"""Commands in this process, for tests of what they refuse."""

from __future__ import annotations

import gc
import sys
from unittest import mock

from paddlespec.cli.app import main
from paddlespec.cli.shared import datacenters
from paddlespec.cli.shared.exits import run


def command(*arguments: str) -> int:
    """Run a command and return its exit code."""
    datacenters.project.cache_clear()
    with mock.patch.object(sys, "argv", ["paddlespec", *arguments]):
        try:
            return run(main)
        finally:
            gc.enable()  # a command that is about to end goes without
