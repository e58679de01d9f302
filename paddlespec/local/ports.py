"""Ports of this machine: whether one is free, who has it otherwise, and which to take instead."""

from __future__ import annotations

import os
import random
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what some servers of Paddle bind
# Below what the kernel gives away by itself and what Paddle's launcher draws from.
_RANGE = (20_000, 32_000)
# A run that was prepared listens within this time, or never.
_CLAIM_SECONDS = 60


def is_free(host: str, port: int) -> bool:
    """Whether a server can listen at *host* now."""
    with socket.socket() as probe:
        # As servers do: a connection that was closed a moment ago holds nothing.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def some_free(host: str, besides: frozenset[int] = frozenset()) -> int:
    """Another port that is free at *host*."""
    for _ in range(200):
        port = random.randrange(*_RANGE)  # noqa: S311 - nobody has to be unable to guess it
        if port not in besides and is_free(host, port):
            return port
    raise OSError(f"no port is free at {host}")


def claimed(port: int, run: str, folder: str) -> bool:
    """
    Take *port* of every address for *run*, which will listen there soon.

    Between the look and the start another run might find it free as well: claims are kept in
    *folder* for that long.
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
    """The process that listens on *port*, as far as the kernel tells: `python (process 123)`."""
    sockets = set(_listening(port))
    if not sockets:
        return None
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            files = os.listdir(f"/proc/{pid}/fd")
            if any(_link(f"/proc/{pid}/fd/{each}") in sockets for each in files):
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as name:
                    return f"{name.read().strip()} (process {pid})"
        except OSError:  # somebody else's, or just gone
            continue
    return None


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return None


def _listening(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                lines = file.readlines()[1:]
        except OSError:
            continue
        for each in lines:
            words = each.split()
            if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port:
                yield f"socket:[{words[9]}]"
