"""
A command in a container: its streams over one websocket, its exit code as our own.

Every message begins with the number of a stream. Version 5 of the protocol can say that the input
has ended; older servers cannot.
"""

from __future__ import annotations

import json
import re
import select
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from kubernetes.stream.ws_client import create_websocket
from websocket import ABNF, WebSocketBadStatusException, WebSocketException

from paddlespec.backend import OperationFailed
from paddlespec.cluster.refusal import Refused, Request, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.cluster.client import Client

_STDIN, _STDOUT, _STDERR, _ERROR, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
_PROTOCOLS = "v5.channel.k8s.io,v4.channel.k8s.io"
_LATEST = "v5.channel.k8s.io"
_WORDS = re.compile(r"exit (?:status|code) (\d{1,3})\s*\Z")
_POLL_SECONDS = 0.02


class Broken(OperationFailed):
    """A connection ended before what it was for."""


class Place(NamedTuple):
    """A container."""

    namespace: str
    pod: str
    container: str


class Streams(Protocol):
    """The three streams of a command, at our end."""

    @property
    def terminal(self) -> bool:
        """Whether a person sits there."""

    @property
    def reads(self) -> bool:
        """Whether there is an input."""

    def typed(self) -> bytes | None:
        """What came in since the last time; nothing at all once it has ended. Does not wait."""

    def size(self) -> tuple[int, int]:
        """Columns and lines of the terminal."""

    def show(self, data: bytes, *, error: bool) -> None:
        """Give out what the command wrote."""


def execute(client: Client, place: Place, command: Sequence[str], streams: Streams) -> int:
    """Run *command* in a container until it ends; its exit code."""
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
            channel, content = data[0], data[1:]
            if channel in (_STDOUT, _STDERR):
                _show(streams, content, error=channel == _STDERR)
            elif channel == _ERROR:
                status += content
    except (WebSocketException, OSError):
        # Some servers hang up when all was said.
        if not status:
            told = f"the connection to {place.pod} broke; the command may still run"
            raise Broken(told) from None
    except _OutputLostError as lost:
        raise lost.error from None
    finally:
        socket.close()
    return _exit_code(status, place, command)


class _OutputLostError(Exception):
    """Our own output takes no more, which is no fault of the connection."""

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
        # A terminal has one stream for both.
        "stderr": str(not streams.terminal).lower(),
        "tty": str(streams.terminal).lower(),
    }
    query = urlencode([*options.items(), *(("command", each) for each in command)])
    return connect(client, place, f"exec?{query}", _PROTOCOLS)


def connect(client: Client, place: Place, what: str, protocols: str) -> Any:
    """A websocket to a subresource of a pod."""
    path = f"/api/v1/namespaces/{quote(place.namespace)}/pods/{quote(place.pod)}/{what}"
    plural = f"pods/{what.partition('?')[0]}"
    request = Request("create", plural, "Pod", place.namespace, place.pod)
    try:
        return client.websocket(path, protocols, create_websocket)
    except WebSocketBadStatusException as error:
        found = refusal(request, error.status_code, error.resp_body or b"")
        raise Refused(found) from None
    except (WebSocketException, OSError):
        raise OperationFailed(f"cannot open a connection to {place.pod}") from None


def _has_come(socket: Any) -> bool:
    """Whether there is something to read; what was decrypted already no system call sees."""
    if isinstance(socket.sock, ssl.SSLSocket) and socket.sock.pending():
        return True
    return bool(select.select([socket.sock], [], [], _POLL_SECONDS)[0])


def _send(socket: Any, channel: int, data: bytes) -> None:
    socket.send(bytes([channel]) + data, opcode=ABNF.OPCODE_BINARY)


def _end_input(socket: Any) -> None:
    if socket.subprotocol == _LATEST:
        _send(socket, _CLOSE, bytes([_STDIN]))


def _exit_code(status: bytes, place: Place, command: Sequence[str]) -> int:
    """What the server says of the end of a command."""
    try:
        found = json.loads(status)
    except ValueError:
        found = {}
    if found.get("status") == "Success":
        return 0
    for each in (found.get("details") or {}).get("causes") or ():
        if each.get("reason") == "ExitCode" and str(each.get("message")).isdecimal():
            return int(each["message"])
    # Kubelets that are not Kubernetes' own say it in words.
    if told := _WORDS.search(str(found.get("message") or "")):
        return int(told[1])
    raise OperationFailed(f"{command[0]} could not be run in {place.pod}", "is it in the image?")
