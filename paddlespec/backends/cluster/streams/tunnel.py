"""
Forward a local connection to a port of a pod over a websocket.

Each message starts with the number of a stream: data or error. The first message of each stream
names the port. The protocol cannot signal that one end has finished writing, only the end of both.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from websocket import ABNF, WebSocketException

from paddlespec.backends.cluster.observe import readiness
from paddlespec.backends.cluster.streams.remote_exec import connect
from paddlespec.runs.failures import NotFound, OperationFailed

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.streams.remote_exec import Place
    from paddlespec.render.manifest import Manifest

_PROTOCOL = "v4.channel.k8s.io"
_DATA, _ERROR = 0, 1
_BLOCK = 64 * 1024
# An end with more unread data than this must wait.
_MOST_WAITING = 512 * 1024
# After the local end has finished, data is forwarded until none arrives for this long.
_LINGER_SECONDS = 2.0
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Port(NamedTuple):
    """A port of a pod."""

    place: Place
    number: int


def pod_of(client: Client, place: Place, uid: str | None = None) -> Manifest:
    """Return the running pod; raises `NotFound` if it has finished or was replaced."""
    fields = f"metadata.name={place.pod}"
    live = next(iter(client.find("v1", "Pod", place.namespace, fields=fields)), None)
    if live is None or uid not in (None, live["metadata"]["uid"]):
        raise NotFound(f"{place.pod} no longer exists")
    progress = readiness.pod(live)
    if progress.done and (live.get("status") or {}).get("phase") != "Running":
        raise NotFound(
            f"{place.pod} has finished: {'exit code 0' if progress.ok else progress.message}"
        )
    return live


def carry(client: Client, port: Port, local: socket.socket) -> None:
    """Forward data in both directions until one end is closed, then close both."""
    try:
        remote = connect(client, port.place, f"portforward?ports={port.number}", _PROTOCOL)
        try:
            _Relay(port, local, remote).run()
        finally:
            remote.close(timeout=0)
    finally:
        local.close()


class _Relay:
    """Both directions in one thread, because a TLS connection must not be used concurrently."""

    def __init__(self, port: Port, local: socket.socket, remote: Any) -> None:
        self.port, self.local, self.remote = port, local, remote
        self._to_remote, self._to_local = bytearray(), bytearray()
        self._begun: set[int] = set()
        self._reads, self._remote_open, self._heard = True, True, time.monotonic()

    def run(self) -> None:
        self.local.setblocking(False)
        self.remote.sock.setblocking(False)
        try:
            while not self._is_over():
                self._wait()
                if self._reads and len(self._to_remote) < _MOST_WAITING:
                    self._hear()
                if self._remote_open and len(self._to_local) < _MOST_WAITING:
                    self._receive()
                if self._remote_open:
                    _send(self.remote.sock, self._to_remote)
                _send(self.local, self._to_local)
            self.local.shutdown(socket.SHUT_WR)
        except OSError:
            return  # one end was closed, so the other is closed too

    def _is_over(self) -> bool:
        if not self._remote_open:
            return not self._to_local
        done = not self._reads and not self._to_remote and not self._to_local
        return done and time.monotonic() - self._heard > _LINGER_SECONDS

    def _wait(self) -> None:
        """Wait until something can be read or written."""
        read, write = selectors.EVENT_READ, selectors.EVENT_WRITE
        events_of = {
            self.local: (read if self._reads and len(self._to_remote) < _MOST_WAITING else 0)
            | (write if self._to_local else 0),
            self.remote.sock: 0
            if not self._remote_open
            else (read if len(self._to_local) < _MOST_WAITING else 0)
            | (write if self._to_remote else 0),
        }
        # Decrypted data in the TLS buffer does not make the socket readable.
        pending = isinstance(self.remote.sock, ssl.SSLSocket) and self.remote.sock.pending()
        ready = pending and len(self._to_local) < _MOST_WAITING
        with selectors.DefaultSelector() as selector:
            for stream, events in events_of.items():
                if events:
                    selector.register(stream, events)
            selector.select(0 if ready else _LINGER_SECONDS)

    def _hear(self) -> None:
        """Read from the local end."""
        try:
            data = self.local.recv(_BLOCK)
        except _NOT_NOW:
            return
        self._heard = time.monotonic()
        if not data:
            self._reads = False
            return
        self._to_remote += _frame(bytes([_DATA]) + data, ABNF.OPCODE_BINARY)

    def _receive(self) -> None:
        """Read one message from the pod."""
        try:
            frame = self.remote.recv_frame()
        except _NOT_NOW:
            return
        except (WebSocketException, OSError):
            self._remote_open = False
            return
        self._heard = time.monotonic()
        if frame.opcode == ABNF.OPCODE_CLOSE:
            self._remote_open = False
        elif frame.opcode == ABNF.OPCODE_PING:
            self._to_remote += _frame(frame.data, ABNF.OPCODE_PONG)
        elif frame.opcode == ABNF.OPCODE_BINARY and frame.data:
            self._take(frame.data[0], frame.data[1:])

    def _take(self, stream: int, data: bytes) -> None:
        if stream not in self._begun:
            self._begun.add(stream)
        elif stream == _DATA:
            self._to_local += data
        elif stream == _ERROR and data:
            raise OperationFailed(_reason(self.port, data))


def _send(to: socket.socket, waiting: bytearray) -> None:
    """Send as much as possible without blocking."""
    try:
        while waiting:
            del waiting[: to.send(waiting[:_BLOCK])]
    except _NOT_NOW:
        return


def _frame(data: bytes, opcode: int) -> bytes:
    made: bytes = ABNF.create_frame(data, opcode).format()
    return made


def _reason(port: Port, message: bytes) -> str:
    """Say why a port refuses connections; the kubelet's own text names internals."""
    where = f"port {port.number} of {port.place.pod}"
    if b"refused" in message:
        return f"nothing listens on {where}"
    return f"cannot reach {where}"
