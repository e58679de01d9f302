"""Ports of this machine: which are free, and which process listens on one."""

from __future__ import annotations

import os
import random
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what some servers of Paddle bind
# Below the ranges of ephemeral ports and of Paddle's launcher.
_RANGE = (20_000, 32_000)
# A prepared run listens within this time or not at all.
_CLAIM_SECONDS = 60


def is_free(host: str, port: int) -> bool:
    """Report whether a server can listen on *port* of *host* now."""
    with socket.socket() as probe:
        # As for servers, connections in TIME_WAIT do not matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def some_free(host: str, besides: frozenset[int] = frozenset()) -> int:
    """Return a free port of *host* that is not in *besides*."""
    for _ in range(200):
        port = random.randrange(*_RANGE)  # noqa: S311 - it need not be secret
        if port not in besides and is_free(host, port):
            return port
    raise OSError(f"no free port on {host}")


def claimed(port: int, run: str, folder: str) -> bool:
    """
    Reserve *port* on every address for *run*, which will listen on it soon.

    Until then, the port would look free to other runs; claims in *folder* prevent that.
    """
    from fcntl import LOCK_EX, flock

    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "a", encoding="utf-8") as lock:
        flock(lock, LOCK_EX)
        claim = os.path.join(folder, str(port))
        if not is_free(EVERYWHERE, port) or _is_claimed(claim, run):
            return False
        with open(claim, "w", encoding="utf-8") as file:
            file.write(run)
        return True


def _is_claimed(claim: str, run: str) -> bool:
    try:
        with open(claim, encoding="utf-8") as file:
            other = file.read()
            age = time.time() - os.fstat(file.fileno()).st_mtime
    except OSError:
        return False
    return other != run and age < _CLAIM_SECONDS and os.path.isdir(other)


def holder(port: int) -> str | None:
    """Return the process that listens on *port*, if visible: `python (process 123)`."""
    import psutil

    for pid in _listeners(port):
        with suppress(psutil.Error):
            return f"{psutil.Process(pid).name()} (process {pid})"
    return None


def _listeners(port: int) -> Iterator[int]:
    import psutil

    try:
        pairs = [(connection.pid, connection) for connection in psutil.net_connections("tcp")]
    except psutil.AccessDenied:  # macOS: users see only their own processes, one by one
        pairs = [(pid, connection) for pid in psutil.pids() for connection in _connections(pid)]
    for pid, connection in pairs:
        if pid is None or connection.status != psutil.CONN_LISTEN or not connection.laddr:
            continue
        if connection.laddr.port == port:
            yield pid


def _connections(pid: int) -> Sequence[Any]:
    import psutil

    try:
        return psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return ()
