"""Local ports that lead through a tunnel; each connection has a thread, and fails alone."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.capabilities import Tunnel
    from paddlespec.runs.failures import OperationFailed

_LOOK_SECONDS = 2.0
_REST_SECONDS = 0.2


class Pair(NamedTuple):
    """A port of this machine, 0 for any free one, None for the same; and the replica's."""

    local: int | None
    remote: str


def pair_of(text: str) -> Pair:
    """Parse [LOCAL:]REMOTE; raises `Stop`."""
    local, separator, remote = text.rpartition(":")
    if not remote or not (local == "" or _is_port(local, least=0)):
        hint = "for example 6006, 8080:6006 or :tensorboard"
        raise Stop(Exit.usage, f'invalid port "{text}": expected [LOCAL:]REMOTE', hint)
    if remote.isdecimal() and not _is_port(remote, least=1):
        raise Stop(Exit.usage, f'invalid port "{text}": expected a number from 1 to 65535')
    return Pair(int(local or 0) if separator else None, remote)


class Forwarding:
    """The forwarded ports of one replica."""

    def __init__(self, tunnel: Tunnel, replica: str) -> None:
        self._tunnel, self._replica = tunnel, replica
        self._failures: SimpleQueue[OperationFailed] = SimpleQueue()
        self._printed = ""

    def run(self, address: str, pairs: Sequence[Pair]) -> NoReturn:
        """Forward until the replica ends, which raises `OperationFailed`."""
        numbered = [(pair, self._tunnel.port(pair.remote)) for pair in pairs]
        servers = [(_listen(address, pair, port), port) for pair, port in numbered]
        for server, port in servers:
            write.lines([f"{_address(server)} -> {self._replica}:{port}"])
            _start(self._accept, server, port)
        sys.stdout.flush()
        looked = time.monotonic()
        while True:
            with suppress(Empty):
                self._report(self._failures.get(timeout=_LOOK_SECONDS))
            if time.monotonic() - looked >= _LOOK_SECONDS:
                self._tunnel.check()
                looked = time.monotonic()

    def _report(self, failure: OperationFailed) -> None:
        """Print why one connection failed; raise what all others would fail with, too."""
        from paddlespec.cli.shared.output import remark
        from paddlespec.runs.failures import Forbidden

        if isinstance(failure, Forbidden):
            raise failure
        if failure.message != self._printed:
            self._printed = failure.message
            remark(failure.message)

    def _accept(self, server: socket.socket, port: int) -> None:
        from paddlespec.runs.failures import OperationFailed

        while True:
            try:
                connection, _ = server.accept()
            except OSError as error:  # too many open connections
                why = (error.strerror or str(error)).lower()
                self._failures.put(OperationFailed(f"cannot accept a connection: {why}"))
                time.sleep(_REST_SECONDS)
                continue
            _start(self._carry, connection, port)

    def _carry(self, connection: socket.socket, port: int) -> None:
        from paddlespec.runs.failures import OperationFailed

        try:
            self._tunnel.carry(port, connection)
        except OperationFailed as error:
            self._failures.put(error)


def _start(work: Callable[[socket.socket, int], None], one: socket.socket, port: int) -> None:
    threading.Thread(target=work, args=(one, port), daemon=True).start()


def _is_port(text: str, *, least: int) -> bool:
    return text.isascii() and text.isdecimal() and least <= int(text) <= 65_535


def _listen(address: str, pair: Pair, port: int) -> socket.socket:
    from paddlespec.runs.failures import OperationFailed

    local = port if pair.local is None else pair.local
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, local), family=family, backlog=128)
    except OSError as error:
        why = (error.strerror or "no such address").lower()
        hint = f"use a free port: :{pair.remote}" if local else None
        raise OperationFailed(f"cannot listen on {address}:{local}: {why}", hint) from None


def _address(server: socket.socket) -> str:
    host, port, *_ = server.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
