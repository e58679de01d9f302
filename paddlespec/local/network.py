"""Which addresses of this machine are taken, and which accept."""

from __future__ import annotations

import contextlib
import errno
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.local.launch import Address, Process

_CONNECT_SECONDS = 0.5


def taken(processes: Iterable[Process]) -> str:
    """Which address of *processes* cannot be listened on, and why; empty where all can."""
    for process in processes:
        for address in process.listens:
            problem = _problem(address)
            if problem:
                host, port = address
                return f"{process.name} cannot listen on {host}:{port}: {problem}"
    return ""


def accepts(address: Address) -> bool:
    """Whether something listens on *address*."""
    with contextlib.suppress(OSError):
        socket.create_connection(address, _CONNECT_SECONDS).close()
        return True
    return False


def _problem(address: Address) -> str:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            own.bind(address)
            own.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "something else listens there"
            return (error.strerror or "it cannot be used").lower()
    return ""
