"""A proxy before the API server, where a test decides the fate of each request."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane


class Seen(NamedTuple):
    """One request: its number from 1 on, and what it is."""

    number: int
    method: str
    path: str

    @property
    def writes(self) -> bool:
        return self.method != "GET"


class Fate(NamedTuple):
    """What happens to a request: whether it gets through, and what comes back."""

    forward: bool = True
    status: int | None = None
    answer: bool = True
    retry_after: str | None = None


@contextlib.contextmanager
def intercepted(
    plane: ControlPlane, folder: Path, namespace: str, decide: Callable[[Seen], Fate]
) -> Iterator[Path]:
    """A kubeconfig whose server is the proxy."""
    lock = threading.Lock()
    count = 0
    upstream = urlsplit(plane.server)
    trust = ssl.create_default_context(cafile=str(plane.ca))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            nonlocal count
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                count += 1
                fate = decide(Seen(count, self.command, self.path))
            status, content = fate.status or 0, b"{}"
            if fate.forward:
                assert upstream.hostname is not None
                connection = http.client.HTTPSConnection(
                    upstream.hostname, upstream.port, context=trust
                )
                headers = {key: value for key, value in self.headers.items() if key != "Host"}
                connection.request(self.command, self.path, body, headers)
                response = connection.getresponse()
                content = response.read()
                status = fate.status or response.status
                connection.close()
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

        do_GET = do_PATCH = do_DELETE = do_POST = do_PUT = handle_one  # noqa: N815 - the base asks for it

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    path = folder / "intercepted.kubeconfig"
    document = {
        "clusters": [
            {"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
        ],
        "users": [{"name": "u", "user": {"token": plane.token}}],
        "contexts": [
            {"name": "test", "context": {"cluster": "c", "user": "u", "namespace": namespace}}
        ],
        "current-context": "test",
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        yield path
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
