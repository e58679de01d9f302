"""The log of one process of a launcher on this machine."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from paddlespec.backends.local.logs.log_files import opened, tail
from paddlespec.backends.local.logs.log_places import is_over
from paddlespec.runs.failures import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.local.logs.log_places import LocalRun

_BLOCK = 64 * 1024
_POLL_SECONDS = 0.1
_FILE = "workerlog."


def copy(
    run: LocalRun,
    replica: str,
    rank: int,
    lines: int | None,
    write: Callable[[bytes], None],
    *,
    follow: bool,
) -> None:
    """Write the log of process *rank* of *replica*; with *follow*, until the run is over."""
    folder = os.path.join(run.folder, "paddle-log", replica)
    path = os.path.join(folder, f"{_FILE}{rank}")
    while follow and not os.path.exists(path) and not is_over(run):
        time.sleep(_POLL_SECONDS)
    files = opened(path)
    if not files:
        raise NotFound(f"{replica} has no log of rank {rank}", _known(folder))
    try:
        file = files[-1]
        file.seek(0 if lines is None else tail(files[-1:], lines, None).offset)
        while True:
            over = not follow or is_over(run)
            while block := file.read(_BLOCK):
                write(block)
            if over:
                return
            time.sleep(_POLL_SECONDS)
    finally:
        for file in files:
            file.close()


def _known(folder: str) -> str:
    """List the processes that have logs."""
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    ranks = [name.removeprefix(_FILE) for name in names if name.startswith(_FILE)]
    known = sorted(int(rank) for rank in ranks if rank.isdecimal())
    if not known:
        return "only Paddle's launcher writes one log per process"
    return f"use one of the ranks of the replica: {', '.join(map(str, known))}"
