"""A server on loopback that answers with any bytes, on a thread."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Takes the head of a request and the connection to answer on.
    Answer = Callable[[str, socket.socket], None]


@contextmanager
def serving(answer: Answer) -> Iterator[int]:
    """Serve every connection with *answer*, for one request; yields the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (block := connection.recv(65536)):
                    return
                head += block
            answer(head.decode("latin-1"), connection)

    def accept() -> None:
        with suppress(OSError):
            while not ended.is_set():
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        ended.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def response(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Return a complete response, after which the connection is closed."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def always(body: bytes, status: str = "200 OK", *headers: str) -> Answer:
    """Answer every request with the same response."""
    return lambda _, connection: connection.sendall(response(body, status, *headers))
