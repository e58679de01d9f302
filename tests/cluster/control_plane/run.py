"""
One test run, whose processes share what the first of them starts.

The process that owns a run holds a file lock as long as it lives. The system releases the lock
however the owner ends, so nothing that waits for it outlives the run.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def owned() -> Iterator[Path]:
    """Return the folder of a run, and delete it once everything that it shares has ended."""
    folder = Path(tempfile.mkdtemp(prefix="paddlespec-run-"))
    try:
        with locked(folder / "owner"):
            yield folder
    finally:
        # Held as long as anything shared is running.
        with locked(folder / "shared"):
            shutil.rmtree(folder, ignore_errors=True)


def wait_for_owner(folder: Path) -> None:
    """Return once the owner of the run has ended."""
    with suppress(FileNotFoundError), locked(folder / "owner"):
        pass


@contextmanager
def locked(path: Path) -> Iterator[IO[str]]:
    """Hold the lock of a file whose folder exists."""
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
