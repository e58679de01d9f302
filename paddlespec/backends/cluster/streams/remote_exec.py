"""
Run a command in a container: its streams over one websocket, and its exit code.

Every message starts with the number of a stream. Only version 5 of the protocol can signal the
end of the input.
"""

from __future__ import annotations

import json
import re
import select
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from websocket import (
    ABNF,
    WebSocketBadStatusException,
    WebSocketException,
)

from paddlespec.answers import MIB, parsed
from paddlespec.backends.cluster.api.refusal import Refused, Request, refusal
from paddlespec.backends.cluster.streams.websocket import opened
from paddlespec.render.shape import STATUS
from paddlespec.runs.failures import ConnectionLost, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.capabilities import Streams
    from paddlespec.backends.cluster.api.client import Client

_STDIN, _STDOUT, _STDERR, _ERROR, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
_PROTOCOLS = "v5.channel.k8s.io,v4.channel.k8s.io"
_LATEST = "v5.channel.k8s.io"
_CODE = re.compile(r"[0-9]{1,3}\Z")
_WORDS = re.compile(r"exit (?:status|code) ([0-9]{1,3})\s*\Z")
_POLL_SECONDS = 0.02
# Kubelets send at most 32 KiB in one message, and the status of a command in one of a few bytes.
_LONGEST = 4 * MIB


class Place(NamedTuple):
    """A container."""

    namespace: str
    pod: str
    container: str


def execute(client: Client, place: Place, command: Sequence[str], streams: Streams) -> int:
    """Run *command* in a container, and return its exit code."""
    socket = _connect(client, place, command, streams)
    reads, size, status = streams.reads, (0, 0), b""
    try:
        while True:
            if streams.terminal and size != (size := streams.size()):
                text = json.dumps({"Width": size[0], "Height": size[1]})
                _send(socket, _RESIZE, text.encode())
            while reads and (typed := streams.typed()) != b"":
                if typed is None:
                    reads = False
                    _end_input(socket)
                else:
                    _send(socket, _STDIN, typed)
            if not _has_come(socket):
                continue
            code, data = socket.recv_data()
            if code == ABNF.OPCODE_CLOSE:
                break
            if not data:
                continue
            channel, content = data[0], data[1:]
            if channel in (_STDOUT, _STDERR):
                _show(streams, content, error=channel == _STDERR)
            elif channel == _ERROR:
                status = (status + content)[:_LONGEST]
    except (WebSocketException, OSError):
        # Some servers close the connection without a close message.
        if not status:
            message = f"lost the connection to {place.pod}; the command may still be running"
            raise ConnectionLost(message) from None
    except _OutputLostError as lost:
        raise lost.error from None
    finally:
        socket.close()
        socket.shutdown()
    return _exit_code(status, place, command)


class _OutputLostError(Exception):
    """The local output cannot be written, which is no failure of the connection."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error


def _show(streams: Streams, content: bytes, *, error: bool) -> None:
    try:
        streams.show(content, error=error)
    except OSError as lost:
        raise _OutputLostError(lost) from None


def _connect(client: Client, place: Place, command: Sequence[str], streams: Streams) -> Any:
    options = {
        "container": place.container,
        "stdin": str(streams.reads).lower(),
        "stdout": "true",
        # A terminal has a single output stream.
        "stderr": str(not streams.terminal).lower(),
        "tty": str(streams.terminal).lower(),
    }
    query = urlencode([*options.items(), *(("command", word) for word in command)])
    return connect(client, place, f"exec?{query}", _PROTOCOLS)


def connect(client: Client, place: Place, what: str, protocols: str) -> Any:
    """Open a websocket to a subresource of a pod."""
    path = f"/api/v1/namespaces/{quote(place.namespace)}/pods/{quote(place.pod)}/{what}"
    plural = f"pods/{what.partition('?')[0]}"
    request = Request("create", plural, "Pod", place.namespace, place.pod)
    try:
        socket = client.websocket(path, protocols, opened)
        _bound(socket)
    except WebSocketBadStatusException as error:
        refused = refusal(request, error.status_code, error.resp_body or b"")
        raise Refused(refused) from None
    except (WebSocketException, OSError):
        raise OperationFailed(f"cannot connect to {place.pod}") from None
    return socket


def _bound(socket: Any) -> None:
    """Refuse messages that are too long; the library waits for frames of any length."""
    frames, parts = socket.frame_buffer, socket.cont_frame
    receive, add = frames.recv_strict, parts.add

    def recv_strict(size: int) -> Any:
        if size > _LONGEST:
            raise WebSocketException("a frame is too long")
        return receive(size)

    def add_part(frame: Any) -> None:
        add(frame)
        if len(parts.cont_data[1]) > _LONGEST:
            raise WebSocketException("a message is too long")

    frames.recv_strict, parts.add = recv_strict, add_part


def _has_come(socket: Any) -> bool:
    """Report whether there is data to read, including decrypted data in the TLS buffer."""
    if isinstance(socket.sock, ssl.SSLSocket) and socket.sock.pending():
        return True
    return bool(select.select([socket.sock], [], [], _POLL_SECONDS)[0])


def _send(socket: Any, channel: int, data: bytes) -> None:
    socket.send(bytes([channel]) + data, opcode=ABNF.OPCODE_BINARY)


def _end_input(socket: Any) -> None:
    if socket.subprotocol == _LATEST:
        _send(socket, _CLOSE, bytes([_STDIN]))


def _exit_code(status: bytes, place: Place, command: Sequence[str]) -> int:
    """Read the exit code from the final status of a command."""
    try:
        answer = parsed(status)
    except ValueError:
        answer = {}
    if STATUS.fault(answer):
        answer = {}
    if answer.get("status") == "Success":
        return 0
    for cause in (answer.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode" and _CODE.match(str(cause.get("message"))):
            return int(cause["message"])
    # Alternative kubelets report the code only in the message.
    if match := _WORDS.search(str(answer.get("message") or "")):
        return int(match[1])
    raise OperationFailed(
        f"cannot run {command[0]} in {place.pod}", "check that the image contains the command"
    )
