"""A lock that is interrupted while it is created is released, even if the server creates it late."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from paddlespec.backends.cluster.change.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from paddlespec.backends.cluster.api.client import Client


class SlowServer:
    """The part of a client that locks use; objects are created a moment after the request."""

    def __init__(self) -> None:
        self.leases: list[dict[str, Any]] = []
        self.requested, self.done = threading.Event(), threading.Event()

    def create(self, lease: dict[str, Any], _identity: object) -> dict[str, Any]:
        created = {**lease, "metadata": {**lease["metadata"], "uid": "1", "resourceVersion": "1"}}

        def carry_out() -> None:
            self.leases.append(created)
            self.done.set()

        threading.Timer(0.2, carry_out).start()
        self.requested.set()
        self.done.wait()
        return created

    def get(self, _identity: object) -> dict[str, Any] | None:
        return self.leases[0] if self.leases else None

    def delete(self, _identity: object, _uid: str, _version: str) -> None:
        self.leases.clear()

    def tidying(self) -> AbstractContextManager[None]:
        return threading.Lock()  # type: ignore[return-value]


@pytest.fixture
def server() -> Iterator[SlowServer]:
    server = SlowServer()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        server.requested.wait(10)
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    yield server
    interrupter.join()
    signal.signal(signal.SIGINT, before)


def test_no_lock_is_left(server: SlowServer) -> None:
    lock = Lock(cast("Client", server), "ns", "job", print)
    with pytest.raises(KeyboardInterrupt):
        lock.__enter__()
    server.done.wait()
    assert server.leases == []
