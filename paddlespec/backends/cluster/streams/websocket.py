"""
Open a websocket, with a bound on the whole handshake.

The library bounds single reads only: a server that sends one byte now and then would keep it
waiting, and one that never ends a line would fill its memory.
"""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING, Any

from kubernetes.stream.ws_client import websocket_proxycare
from websocket import WebSocket, WebSocketException

from paddlespec.answers import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubernetes.client.configuration import Configuration

_SECONDS = 30.0
_MOST = MIB


def opened(configuration: Configuration, url: str, headers: Mapping[str, str]) -> WebSocket:
    """Connect to *url*; raises `WebSocketException` and `OSError`."""
    options: dict[str, Any] = {
        "header": [f"{name}: {value}" for name, value in headers.items()],
        "redirect_limit": 0,
    }
    if configuration.proxy or configuration.proxy_headers:
        options = websocket_proxycare(  # type: ignore[no-untyped-call]  # a library without types
            options, configuration, url, headers
        )
    socket = _Opening(sslopt=_tls(configuration, url))
    socket.settimeout(_SECONDS)
    socket.connect(url, **options)
    socket.settimeout(None)
    return socket


def _tls(configuration: Configuration, url: str) -> dict[str, Any]:
    """Return the options of TLS, as the official client sets them for its own websockets."""
    if not (url.startswith("wss://") and configuration.verify_ssl):
        options: dict[str, Any] = {"cert_reqs": ssl.CERT_NONE}
    else:
        options = {"cert_reqs": ssl.CERT_REQUIRED}
        if configuration.assert_hostname is not None:
            options["check_hostname"] = configuration.assert_hostname
    given = {
        "ca_certs": configuration.ssl_ca_cert,
        "certfile": configuration.cert_file,
        "keyfile": configuration.key_file,
        "server_hostname": configuration.tls_server_name,
    }
    return {**options, **{name: value for name, value in given.items() if value}}


class _Opening(WebSocket):
    """A websocket whose connection is bounded until the handshake is complete."""

    _sock: Any = None

    def connect(self, url: str, **options: Any) -> None:
        self._end = time.monotonic() + _SECONDS
        super().connect(url, **options)  # type: ignore[no-untyped-call]  # as above
        self._sock = self._sock.plain

    @property
    def sock(self) -> Any:
        return self._sock

    @sock.setter
    def sock(self, value: Any) -> None:
        self._sock = value and _Bounded(value, self._end)


class _Bounded:
    """A socket that receives a limited number of bytes until a time of the monotonic clock."""

    def __init__(self, plain: Any, end: float) -> None:
        self.plain, self._end, self._left = plain, end, _MOST

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def recv(self, size: int) -> bytes:
        """Receive bytes; raises `TimeoutError` once the answer is late."""
        wait = self._end - time.monotonic()
        if wait <= 0:
            raise TimeoutError("the answer takes too long")
        self.plain.settimeout(wait)
        data: bytes = self.plain.recv(min(size, self._left))
        self._left -= len(data)
        if self._left <= 0:
            raise WebSocketException("the answer is too long")
        return data
