"""`port-forward` on a real control plane, whose fake kubelet forwards every port to one server."""

from __future__ import annotations

import os
import re
import signal
import socket
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from user import User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from control_plane import ControlPlane
    from forked import Process

MANY = 20
LARGE = 10_000_000


class Echo(socketserver.BaseRequestHandler):
    """Sends back what it receives as it arrives; hangs up on request."""

    def handle(self) -> None:
        while data := self.request.recv(65_536):
            if data == b"hang up\n":
                return
            self.request.sendall(data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    admin = User.admin(control_plane, namespace, tmp_path)
    admin.run("apply", admin.ps(run_for="1h"), "--wait", "ready")
    return admin


@pytest.fixture
def alone(one_at_a_time: Callable[[str], AbstractContextManager[object]]) -> Iterator[None]:
    """Every port of every pod leads to one server."""
    with one_at_a_time("behind-pods"):
        yield


@pytest.fixture
def served(user: User, alone: None) -> Iterator[None]:
    with Server(user.plane.behind_pods, Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()


@contextmanager
def forwarding(user: User, *arguments: str) -> Iterator[tuple[Process, list[int]]]:
    """Start the command, and return the local ports that it reports."""
    process = user.start("port-forward", "fit", *arguments)
    try:
        count = sum(
            argument[-1].isdigit() and not argument.startswith("-") for argument in arguments
        )
        lines = [process.stdout.readline() for _ in range(count)]
        matches = [
            re.match(r"127\.0\.0\.1:(\d+) -> fit-trainer-0-\w+:\d+\n\Z", line) for line in lines
        ]
        assert all(matches), (lines, process.communicate(timeout=30))
        yield process, [int(match[1]) for match in matches if match]
    finally:
        process.kill()
        process.communicate()


def echoed(port: int, data: bytes) -> bytes:
    """Send *data* while reading what comes back; stop when it is complete or cut off."""
    received = bytearray()
    with (
        suppress(ConnectionError),
        socket.create_connection(("127.0.0.1", port), timeout=60) as connection,
    ):
        sending = threading.Thread(target=_sent, args=(connection, data))
        sending.start()
        try:
            while len(received) < len(data) and (block := connection.recv(1 << 16)):
                received += block
        finally:
            sending.join()
    return bytes(received)


def _sent(connection: socket.socket, data: bytes) -> None:
    with suppress(ConnectionError):
        connection.sendall(data)


def test_data_goes_both_ways(user: User, served: None) -> None:
    data = os.urandom(LARGE)
    with forwarding(user, ":6006", "0:7007") as (_, ports):
        assert len(set(ports)) == 2
        for port in ports:
            assert echoed(port, data) == data


def test_many_connections_at_once(user: User, served: None) -> None:
    parts = [os.urandom(200_000) for _ in range(MANY)]
    with forwarding(user, ":6006") as (_, (port,)), ThreadPoolExecutor(MANY) as pool:
        assert list(pool.map(lambda part: echoed(port, part), parts)) == parts


def test_one_connection_ends_and_others_go_on(user: User, served: None) -> None:
    with (
        forwarding(user, ":6006") as (_, (port,)),
        socket.create_connection(("127.0.0.1", port), timeout=30) as other,
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as cut:
            cut.sendall(b"some")
            assert cut.recv(4) == b"some"
        other.sendall(b"more")
        assert other.recv(4) == b"more"
        assert echoed(port, b"later") == b"later"


def test_what_serves_later_is_reached_then(user: User, alone: None) -> None:
    with forwarding(user, ":6006") as (process, (port,)):
        assert echoed(port, b"too early") == b""
        assert "nothing listens on port 6006 of fit-trainer-0-" in process.stderr.readline()
        with Server(user.plane.behind_pods, Echo) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            assert echoed(port, b"now") == b"now"
            server.shutdown()


def test_it_ends_with_the_replica(user: User, served: None) -> None:
    with forwarding(user, ":6006") as (process, _):
        user.run("kill", "fit", "--yes")
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (3, "")
    assert re.match(r"paddlespec: fit-trainer-0-\w+ (no longer exists|has finished: .*)\n\Z", err)


def test_interrupted_it_says_nothing(user: User) -> None:
    with forwarding(user, ":6006") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 130


def test_what_cannot_be_forwarded_is_said(user: User) -> None:
    def message(*arguments: str, code: int) -> str:
        return user.run("port-forward", "fit", *arguments, code=code).stderr

    assert "expected [LOCAL:]REMOTE" in message("a:b", code=2)
    assert "expected a number from 1 to 65535" in message("70000", code=2)
    assert 'has no port named "tensorboard"' in message("tensorboard", code=2)
    assert "its ports: pserver, gloo" in message("--role", "pservers", "web", code=2)
    assert "no trainer 9 of fit is running" in message("6006", "--index", "9", code=3)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = message(f"{port}:6006", code=3)
    assert f"cannot listen on 127.0.0.1:{port}: address already in use" in result
    assert ":6006" in result


def test_a_port_by_its_name(user: User, served: None) -> None:
    process = user.start("port-forward", "fit", ":pserver", "--role", "pservers", "--index", "1")
    try:
        assert re.match(r"127\.0\.0\.1:\d+ -> fit-pserver-1-\w+:6174\n", process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def test_who_may_not_is_told_so(user: User, served: None) -> None:
    look = {"apiGroups": [""], "resources": ["pods", "configmaps"], "verbs": ["get", "list"]}
    jobs = {
        "apiGroups": ["batch", "apps"],
        "resources": ["jobs", "statefulsets"],
        "verbs": ["list"],
    }
    user.plane.allow("reader", user.namespace, [look, jobs])
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    with forwarding(reader, ":6006") as (process, (port,)):
        assert echoed(port, b"some") == b""
        _, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "you may not" in err
    assert "pods/portforward" in err


def test_clients_that_try_on_and_on_do_not_hide_the_end_of_the_replica(user: User) -> None:
    with forwarding(user, ":6006") as (process, (port,)):
        user.run("kill", "fit", "--yes", "--no-wait")

        def is_over() -> bool:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as one:
                one.recv(1)
            return process.poll() is not None

        user.plane.eventually(is_over, within=60)
        assert process.returncode == 3
