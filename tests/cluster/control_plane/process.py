"""Start servers as child processes, and stop them by process id."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GUARD = Path(__file__).with_name("guard.py")
GRACE_SECONDS = 1.0
# All servers are written in Go; more memory for less garbage collection saves a tenth of their CPU.
ENVIRONMENT = {"GOGC": "400"}


class ServerFailedError(Exception):
    """Report which server did not start, with the end of its log."""


@dataclass(frozen=True)
class Server:
    """One running server and the file that holds its output."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    command: Sequence[str] = ()

    def check(self) -> None:
        """Raise if it has ended, because nothing that waits for it can succeed then."""
        if self.process.poll() is not None:
            raise ServerFailedError(
                f"{self.name} ended with {self.process.returncode}:\n{self.tail()}"
            )

    def tail(self) -> str:
        """Return the last lines of its output."""
        return last_lines(self.log)


def last_lines(log: Path) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])


def launch(name: str, command: Sequence[str], folder: Path) -> Server:
    """
    Start a server in its own session.

    A keyboard interrupt therefore does not reach it; we stop it ourselves.
    """
    log = folder / f"{name}.log"
    guarded = [sys.executable, "-I", "-S", str(GUARD), str(os.getpid()), *command]
    with log.open("ab") as output:
        process = subprocess.Popen(
            guarded,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
    return Server(name, process, log, command)


def stop(servers: Sequence[Server]) -> None:
    """Terminate all, and kill those that take too long; calling it again does nothing."""
    for server in servers:
        send(server, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    for server in servers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(timeout=max(0.0, deadline - time.monotonic()))
            continue
        send(server, signal.SIGKILL)
        server.process.wait()


def send(server: Server, number: signal.Signals) -> None:
    """Signal a server that has not been reaped, whose process id is therefore still its own."""
    if server.process.poll() is None:
        server.process.send_signal(number)
