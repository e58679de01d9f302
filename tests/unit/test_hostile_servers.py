"""API servers, proxies and registries that answer anything, in any time."""

from __future__ import annotations

import gzip
import json
import os
import time
from base64 import b64encode
from hashlib import sha1
from typing import TYPE_CHECKING, Any

import pytest
from front import JOB
from invoked import Ended, invoked
from kubernetes.client.configuration import Configuration
from loopback import always, response, serving

from paddlespec.answers import MIB
from paddlespec.backends.cluster.api import transport
from paddlespec.backends.cluster.api.client import Client
from paddlespec.backends.cluster.api.connection import Connection
from paddlespec.backends.cluster.streams import remote_exec, websocket
from paddlespec.images import registry
from paddlespec.images.registry import image_of
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from loopback import Answer

    Command = Callable[..., Ended]

METADATA = {"name": "j", "uid": "u", "namespace": "default", "labels": {"paddlespec.io/job": "j"}}
BODIES = {
    "an empty object": "{}",
    "null": "null",
    "a list": "[]",
    "a text": '"items"',
    "nothing": "",
    "a page": "<html>Log in</html>",
    "bytes": "\x00\xff",
    "a number of items": '{"items": 1}',
    "numbers for items": '{"items": [1]}',
    "items without metadata": '{"items": [{}]}',
    "a wrong kind": json.dumps({"kind": "Other", "apiVersion": "v1", "metadata": METADATA}),
    "labels that are a list": json.dumps({"items": [{"metadata": {**METADATA, "labels": []}}]}),
    "a number for a name": json.dumps({"items": [{"metadata": {**METADATA, "name": 1}}]}),
    "deep nesting": "[" * 200_000,
    "deep objects": '{"a":' * 900 + "1" + "}" * 900,
    "deep objects in a list": '{"items":[{"metadata":' + '{"a":' * 300 + "1" + "}" * 300 + "}]}",
    "a lone surrogate": '{"items": [{"metadata": {"name": "\\ud800", "uid": "u"}}]}',
    "a number that is none": '{"items": NaN}',
    "a number of many digits": '{"items": 1' + "0" * 5000 + "}",
}
COMMANDS = [
    "status j",
    "logs j",
    "get jobs",
    "get jobs -A",
    "get workers j",
    "get history j",
    "get spec j",
    "get resources",
    "get quota",
    "get queues",
    "get storages",
    "get registries",
    "diff job.yaml",
    "apply job.yaml --yes",
    "wait j",
    "kill j --yes",
    "delete j --yes",
    "exec j -- true",
    "config check",
    "validate job.yaml",
]


STATUSES = ["400 Bad", "403 No", "404 Gone", "409 Conflict", "422 Bad"]
# Every body meets a fifth of the commands and one status, unless all pairs are asked for.
EVERY = 1 if os.environ.get("PADDLESPEC_HYPOTHESIS") == "fuzz" else 5


def pairs(texts: list[str]) -> list[tuple[str, str]]:
    """Pair every body with some of *texts*, so that every text meets some bodies."""
    return [
        (body, text)
        for row, body in enumerate(BODIES)
        for column, text in enumerate(texts)
        if (row + column) % EVERY == 0
    ]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command against the API server on a port."""
    job = JOB.replace("image: x", "image: x:1") + "  trainers: {resources: {memory: 1Gi}}\n"
    (tmp_path / "job.yaml").write_text(job)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))

    def run(port: int, *arguments: str) -> Ended:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "c", "user": {"token": "canary"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        }
        (tmp_path / "kubeconfig").write_text(json.dumps(config))
        return invoked(capsys, *arguments)

    return run


def client(port: int, **options: Any) -> Client:
    configuration = Configuration()
    configuration.host = f"http://127.0.0.1:{port}"
    return Client(Connection.of(configuration, "default"), **options)


def listing(port: int, **options: Any) -> list[dict[str, Any]]:
    return client(port, **options).find("v1", "Pod", "default")


def failure(answer: Answer, **options: Any) -> str:
    """Return why the pods of a server cannot be listed."""
    with serving(answer) as port, pytest.raises(OperationFailed) as caught:
        listing(port, **options)
    return caught.value.message


@pytest.mark.parametrize(("body", "text"), pairs(COMMANDS))
def test_any_answer_is_a_sentence(command: Command, body: str, text: str) -> None:
    if text == "validate job.yaml":
        text += " -o json"
    with serving(always(BODIES[body].encode("latin-1"))) as port:
        ended = command(port, *text.split())
    assert ended.code in ((0,) if text.startswith("validate") else (1, 3)), ended
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err
    if ended.code == 3 and text != "config check":
        reports = [line for line in ended.err.splitlines() if not line.startswith("  hint:")]
        assert len(reports) == 1, ended


@pytest.mark.parametrize(("body", "status"), pairs(STATUSES))
def test_any_refusal_is_a_sentence(command: Command, body: str, status: str) -> None:
    with serving(always(BODIES[body].encode("latin-1"), status)) as port:
        assert command(port, "status", "j").code == 3
        assert command(port, "apply", "job.yaml", "--yes").code == 3


def test_version_of_a_server_is_no_terminal_sequence(command: Command) -> None:
    hostile = json.dumps({"gitVersion": "v1\x1b]0;pwn\x07\n::error::v"}).encode()
    with serving(always(hostile)) as port:
        ended = command(port, "version")
    assert "\x1b" not in ended.out + ended.err
    assert "\n::error" not in ended.out + ended.err


def endless(_: str, connection: socket.socket) -> None:
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n{"items": ["')
    while True:
        connection.sendall(b"a" * 65536)


def endless_header(_: str, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(100_000_000):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" if not number else b"a: b\r\n")


def endless_continue(_: str, connection: socket.socket) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


def endless_chunk_size(_: str, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"0" * 65536)


@pytest.mark.parametrize("answer", [endless, endless_header, endless_continue, endless_chunk_size])
def test_an_answer_without_an_end_is_refused(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_LARGEST_LIST", 2 * MIB)
    monkeypatch.setattr(transport, "_PAUSES", ())
    monkeypatch.setattr(transport, "_PAUSES_AT_FIRST", ())
    assert "127.0.0.1" in failure(answer)


@pytest.mark.parametrize("size", [1, 4 * MIB])
def test_a_compressed_answer_is_bounded_before_it_is_unpacked(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_LARGEST_LIST", 2 * MIB)
    body = gzip.compress(b'{"items": []}' + b" " * size)
    with serving(always(body, "200 OK", "Content-Encoding: gzip")) as port:
        if size == 1:
            assert listing(port) == []
            return
        with pytest.raises(OperationFailed, match="more than 2 MiB"):
            listing(port)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    answer = always(b'{"items": []}', "200 OK", f"Content-Encoding: {encoding}")
    assert "unknown encoding" in failure(answer)


def test_a_broken_encoding_is_refused() -> None:
    assert "broken encoding" in failure(always(b"{}", "200 OK", "Content-Encoding: gzip"))


def drip(text: bytes) -> Answer:
    def answer(_: str, connection: socket.socket) -> None:
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)

    return answer


@pytest.mark.parametrize(
    "text", [response(b'{"items":' + b" " * 5000 + b"[]}"), b"HTTP/1.1 200 OK\r\na: " + b"b" * 5000]
)
def test_an_answer_that_drips_is_given_up(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_READ_SECONDS", 0.2)
    monkeypatch.setattr(transport, "_PAUSES", ())
    monkeypatch.setattr(transport, "_PAUSES_AT_FIRST", ())
    assert failure(drip(text)).endswith("timed out")


def test_a_deadline_holds_for_an_answer_that_drips() -> None:
    text = response(b'{"items":' + b" " * 5000 + b"[]}")
    failure(drip(text), deadline=time.monotonic() + 0.2)


def test_a_large_answer_over_a_slow_link_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_READ_SECONDS", 0.2)

    def slow(_: str, connection: socket.socket) -> None:
        text = response(b'{"items": [' + b" " * 640_000 + b"]}")
        for start in range(0, len(text), 64_000):
            connection.sendall(text[start : start + 64_000])
            time.sleep(0.05)

    with serving(slow) as port:
        assert listing(port) == []


def test_a_log_is_streamed_for_longer_than_an_answer_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_READ_SECONDS", 0.2)
    monkeypatch.setattr(transport, "_LARGEST_REFUSAL", 100)

    def lines(_: str, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _number in range(8):
            connection.sendall(b"3E8\r\n" + b"a" * 1000 + b"\r\n")
            time.sleep(0.05)
        connection.sendall(b"0\r\n\r\n")

    with serving(lines) as port:
        blocks = list(client(port).log("default", "p", {"follow": "false"}))
    assert b"".join(blocks) == b"a" * 8000


def test_a_stream_that_is_refused_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 No\r\n\r\n")
        while True:
            connection.sendall(b"a" * 65536)

    with serving(refuse) as port, pytest.raises(OperationFailed):
        list(client(port).log("default", "p", {"follow": "true"}))


def test_a_connection_is_used_again_after_an_answer() -> None:
    heads = []

    def twice(head: str, connection: socket.socket) -> None:
        while head:
            heads.append(head)
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"items": []}')
            head = connection.recv(65536).decode("latin-1")

    with serving(twice) as port:
        own = client(port)
        assert own.find("v1", "Pod", "default") == own.find("v1", "Pod", "other") == []
        own.close()
    assert len(heads) == 2


def test_a_server_that_is_silent_is_named() -> None:
    remarks: list[str] = []

    def late(_: str, connection: socket.socket) -> None:
        while not remarks:
            time.sleep(0.01)
        connection.sendall(response(b'{"items": []}'))

    with serving(late) as port:
        own = client(port, report=remarks.append, patience=0.05)
        assert own.find("v1", "Pod", "default") == []
        assert own.find("v1", "Pod", "default") == []
    assert remarks == [f"http://127.0.0.1:{port} does not answer yet"]


def test_status_and_get_say_what_they_wait_for(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client.__init__, "__defaults__", (None, 8, None, 0.05))
    monkeypatch.setattr(transport, "_READ_SECONDS", 0.5)

    def silent(_: str, connection: socket.socket) -> None:
        connection.recv(1)

    with serving(silent) as port:
        for text in ("status j", "get jobs", "get queues"):
            ended = command(port, *text.split())
            assert ended.code == 3
            assert ended.err.splitlines()[0] == f"http://127.0.0.1:{port} does not answer yet"


@pytest.mark.parametrize("retry", ["\u00b2", "1e9", "-1", "9" * 400])
def test_a_strange_time_to_retry_after(retry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_PAUSES", (0.0,))

    def busy(_: str, connection: socket.socket) -> None:
        head = f"HTTP/1.1 503 Busy\r\nRetry-After: {retry}\r\nContent-Length: 0\r\n"
        connection.sendall(f"{head}Connection: close\r\n\r\n".encode("latin-1"))

    assert "failed" in failure(busy)


# Registries

TOKEN = json.dumps({"token": "t"}).encode()


def digest(port: int) -> str:
    return registry.digest_of(image_of(f"localhost:{port}/team/image:1"))


@pytest.mark.parametrize("body", BODIES)
def test_any_token_of_a_registry_is_a_sentence(body: str) -> None:
    def answer(head: str, connection: socket.socket) -> None:
        if "/v2/" in head:
            realm = f'Bearer realm="http://localhost:{port}/token"'
            connection.sendall(response(b"", "401 No", f"WWW-Authenticate: {realm}"))
        else:
            connection.sendall(response(BODIES[body].encode("latin-1")))

    with serving(answer) as port, pytest.raises(OperationFailed, match="denied a token"):
        digest(port)


@pytest.mark.parametrize("answer", [endless, endless_header, endless_continue])
def test_a_token_without_an_end_is_refused(answer: Answer) -> None:
    def unauthorized(head: str, connection: socket.socket) -> None:
        if "/v2/" not in head:
            answer(head, connection)
        realm = f'Bearer realm="http://localhost:{port}/token"'
        connection.sendall(response(b"", "401 No", f"WWW-Authenticate: {realm}"))

    with serving(unauthorized) as port, pytest.raises(OperationFailed):
        digest(port)


def test_a_registry_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_SECONDS", 0.2)
    with (
        serving(drip(b"HTTP/1.1 200 OK\r\na: " + b"b" * 5000)) as port,
        pytest.raises(OperationFailed, match="cannot reach registry"),
    ):
        digest(port)


# Streams of a command in a container

PLACE = remote_exec.Place("default", "p", "c")


class Silence:
    """No input, and output that is kept."""

    terminal = reads = False

    def __init__(self) -> None:
        self.shown = b""

    def typed(self) -> bytes | None:
        return b""

    def size(self) -> tuple[int, int]:
        return 0, 0

    def show(self, data: bytes, *, error: bool) -> None:
        self.shown += data


def executed(frames: bytes) -> tuple[int, bytes]:
    """Run a command in a pod whose kubelet sends *frames*."""

    def answer(head: str, connection: socket.socket) -> None:
        key = next(line for line in head.splitlines() if line.lower().startswith("sec-websocket-k"))
        seed = key.partition(":")[2].strip() + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = b64encode(sha1(seed.encode()).digest()).decode()
        lines = [
            "HTTP/1.1 101 Switching Protocols",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Protocol: v5.channel.k8s.io",
            f"Sec-WebSocket-Accept: {accept}",
        ]
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + frames)
        connection.recv(65536)

    streams = Silence()
    with serving(answer) as port:
        code = remote_exec.execute(client(port), PLACE, ["true"], streams)
    return code, streams.shown


def frame(data: bytes, first: int = 0x82) -> bytes:
    return bytes([first, 127]) + len(data).to_bytes(8, "big") + data


CLOSE = bytes([0x88, 0])


@pytest.mark.parametrize(
    "answer",
    [
        drip(b"HTTP/1.1 101 Switching Protocols\r\na: " + b"b" * 5000),
        drip(response(b"{" * 5000, "403 Forbidden")),
        endless_header,
    ],
)
def test_a_handshake_without_an_end_is_given_up(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "_SECONDS", 0.3)
    with serving(answer) as port, pytest.raises(OperationFailed, match="cannot connect to p"):
        remote_exec.execute(client(port), PLACE, ["true"], Silence())


def test_a_handshake_that_leads_elsewhere_is_not_followed() -> None:
    """Its headers hold the token of the user."""
    heads: list[str] = []

    def remember(head: str, _: socket.socket) -> None:
        heads.append(head)

    with serving(remember) as elsewhere:
        moved = response(b"", "302 Found", f"Location: ws://127.0.0.1:{elsewhere}/")
        with serving(lambda _, to: to.sendall(moved)) as port, pytest.raises(OperationFailed):
            remote_exec.execute(client(port), PLACE, ["true"], Silence())
    assert heads == []


def test_output_of_a_command_and_an_empty_message() -> None:
    status = b'\x03{"status": "Success"}'
    assert executed(frame(b"") + frame(b"\x01out") + frame(status) + CLOSE) == (0, b"out")


@pytest.mark.parametrize("status", BODIES)
def test_any_status_of_a_command_is_a_sentence(status: str) -> None:
    with pytest.raises(OperationFailed, match="cannot run true in p"):
        executed(frame(b"\x03" + BODIES[status].encode("latin-1")) + CLOSE)


def test_a_frame_without_an_end_is_refused() -> None:
    with pytest.raises(OperationFailed, match="lost the connection"):
        executed(bytes([0x82, 127]) + (2**40).to_bytes(8, "big") + b"\x01" * 100_000)


def test_a_message_of_frames_without_an_end_is_refused() -> None:
    part = b"\x01" * (3 * MIB)
    with pytest.raises(OperationFailed, match="lost the connection"):
        executed(frame(part, 0x02) + frame(part, 0x00))
