"""Addresses of this machine: which are in use, and which accept connections."""

from __future__ import annotations

import contextlib
import errno
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Address = tuple[str, int]
_CONNECT_SECONDS = 0.5


def taken(addresses: Mapping[str, Sequence[Address]]) -> str:
    """Say why a process cannot listen on one of its *addresses*; empty if it can."""
    for name, listens in addresses.items():
        for address in listens:
            problem = _problem(address)
            if problem:
                host, port = address
                return f"{name} cannot listen on {host}:{port}: {problem}"
    return ""


def accepts(address: Address) -> bool:
    """Report whether something listens on *address*."""
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
                return "address already in use"
            return (error.strerror or "unusable address").lower()
    return ""
