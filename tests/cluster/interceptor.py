"""A proxy in front of the API server that lets a test decide the fate of each request."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane


class Seen(NamedTuple):
    """One request: its number, counted from 1, and its contents."""

    number: int
    method: str
    path: str
    token: str = ""

    @property
    def writes(self) -> bool:
        return self.method != "GET"


class Fate(NamedTuple):
    """
    What happens to a request: whether it is forwarded, and what is returned.

    `late`: the request is held back and delivered on demand. `bytes`: the response is cut off after
    so many bytes.
    """

    forward: bool = True
    status: int | None = None
    answer: bool = True
    retry_after: str | None = None
    seconds: float = 0.0
    late: bool = False
    bytes: int | None = None


class Request(NamedTuple):
    """What is forwarded to the API server."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


class Route:
    """The requests of one client; the server in its kubeconfig is a path of the proxy."""

    def __init__(self, decide: Callable[[Seen], Fate]) -> None:
        self.decide = decide
        self.count = 0
        self.late: list[Request] = []
        self._lock = threading.Lock()

    def fate(self, method: str, path: str, token: str) -> Fate:
        with self._lock:
            self.count += 1
            seen = Seen(self.count, method, path, token)
        return self.decide(seen)


class Proxy:
    """A proxy for many clients; close it at the end."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.routes: list[Route] = []
        self._upstream = urlsplit(plane.server)
        self._trust = ssl.create_default_context(cafile=str(plane.ca))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def route(
        self,
        folder: Path,
        namespace: str,
        decide: Callable[[Seen], Fate],
        credentials: dict[str, Any] | None = None,
    ) -> tuple[Route, Path]:
        """
        Return a route through the proxy, and a kubeconfig that uses it.

        *credentials* are for the proxy only: the API server always knows the user.
        """
        route = Route(decide)
        self.routes.append(route)
        server = f"http://127.0.0.1:{self._server.server_port}/{len(self.routes) - 1}"
        document = {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": credentials or {"token": self.plane.token}}],
            "contexts": [
                {"name": "test", "context": {"cluster": "c", "user": "u", "namespace": namespace}}
            ],
            "current-context": "test",
        }
        path = folder / f"intercepted-{len(self.routes)}.kubeconfig"
        path.write_text(json.dumps(document), encoding="utf-8")
        return route, path

    def deliver(self, route: Route) -> None:
        """Deliver the requests that were held back."""
        with contextlib.closing(self.connection()) as connection:
            for request in route.late:
                send(connection, request)
        route.late.clear()

    def connection(self) -> http.client.HTTPSConnection:
        assert self._upstream.hostname is not None
        return http.client.HTTPSConnection(
            self._upstream.hostname, self._upstream.port, context=self._trust
        )


@contextlib.contextmanager
def proxied(plane: ControlPlane) -> Iterator[Proxy]:
    """Run a proxy for the duration of the block."""
    proxy = Proxy(plane)
    try:
        yield proxy
    finally:
        proxy.close()


@contextlib.contextmanager
def intercepted(
    plane: ControlPlane, folder: Path, namespace: str, decide: Callable[[Seen], Fate]
) -> Iterator[Path]:
    """Return a kubeconfig whose server is a proxy for one client."""
    with proxied(plane) as proxy:
        yield proxy.route(folder, namespace, decide)[1]


def send(connection: http.client.HTTPSConnection, request: Request) -> tuple[int, bytes]:
    connection.request(request.method, request.path, request.body, request.headers)
    response = connection.getresponse()
    return response.status, response.read()


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        upstream: http.client.HTTPSConnection | None = None

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            number, _, rest = self.path[1:].partition("/")
            route, path = proxy.routes[int(number)], f"/{rest}"
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            fate = route.fate(self.command, path, token)
            if fate.seconds:
                time.sleep(fate.seconds)
            headers = {key: value for key, value in self.headers.items() if key != "Host"}
            headers["Authorization"] = f"Bearer {proxy.plane.token}"
            request = Request(self.command, path, body, headers)
            if fate.late:
                route.late.append(request)
                self.close_connection = True
                return
            if "/log?" in path and fate.forward and fate.status is None:
                self.stream(request, fate.bytes)
                return
            status, content = fate.status or 0, b"{}"
            if fate.forward:
                received, content = self.forward(request)
                status = fate.status or received
            if not fate.answer:
                self.close_connection = True
                return
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                if fate.retry_after:
                    self.send_header("Retry-After", fate.retry_after)
                self.end_headers()
                self.wfile.write(content)

        def forward(self, request: Request) -> tuple[int, bytes]:
            if self.upstream is None:
                self.upstream = proxy.connection()
            return send(self.upstream, request)

        def stream(self, request: Request, left: int | None) -> None:
            """Pass on an answer while it comes, until it breaks off."""
            with contextlib.closing(proxy.connection()) as upstream:
                upstream.request(request.method, request.path, request.body, request.headers)
                response = upstream.getresponse()
                self.send_response(response.status)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                with contextlib.suppress(OSError, http.client.HTTPException):
                    while left is None or left > 0:
                        block = response.read1(min(left or 65536, 65536))
                        self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
                        if not block:
                            return
                        left = None if left is None else left - len(block)
                self.close_connection = True

        def finish(self) -> None:
            if self.upstream is not None:
                self.upstream.close()
            with contextlib.suppress(OSError):
                super().finish()

        do_GET = do_PATCH = do_DELETE = do_POST = do_PUT = handle_one  # noqa: N815 - the base asks for it

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
