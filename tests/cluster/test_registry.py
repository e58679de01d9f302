"""Pull secrets on a real API server, and requests to a small registry on this machine."""

from __future__ import annotations

import base64
import json
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from user import COMMAND, User

from paddlespec.images.registry import Credentials as Known
from paddlespec.images.registry import (
    Image,
    image_of,
    known_to,
    secret,
    server_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane

PASSWORD = "canary-of-the-registry"
DIGEST = f"sha256:{'ab' * 32}"
BASIC = "Basic " + base64.b64encode(f"bot:{PASSWORD}".encode()).decode()


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


class Handler(BaseHTTPRequestHandler):
    """A registry with one public image and one that requires a token."""

    def do_HEAD(self) -> None:
        self.server.seen.append((self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        name = self.path.removeprefix("/v2/").partition("/manifests/")
        if name[0] == "closed" and self.headers.get("Authorization") != "Bearer a-token":
            address = self.server.host  # type: ignore[attr-defined]
            challenge = (
                f'Bearer realm="http://{address}/token",service="it",scope="repository:closed:pull"'
            )
            self.answer(401, {"WWW-Authenticate": challenge})
        elif name[0] == "basic" and self.headers.get("Authorization") != BASIC:
            self.answer(401, {"WWW-Authenticate": 'Basic realm="it"'})
        elif name[2] in ("1", "latest"):
            self.answer(200, {"Docker-Content-Digest": DIGEST})
        else:
            self.answer(404)

    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        if self.headers.get("Authorization") != BASIC:
            self.answer(401)
            return
        self.answer(200, {}, b'{"token": "a-token"}')

    def answer(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str | None]] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def typed(
    user: User, *arguments: str, stdin: str = PASSWORD, code: int = 0, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command with standard input; its output contains no secret."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        env={**user.environment, **more},
        cwd=user.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "canary" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def add(user: User, name: str, server: str, **more: Any) -> subprocess.CompletedProcess[str]:
    words = ("--server", server, "--username", "bot", "--password-stdin")
    return typed(user, "registry", "add", name, *words, **more)


def held(user: User, name: str) -> dict[str, Any]:
    live = user.get("secrets", name)
    stored: dict[str, Any] = json.loads(base64.b64decode(live["data"][".dockerconfigjson"]))
    return stored


def test_a_pull_secret_comes_is_changed_is_shown_and_goes(user: User) -> None:
    assert "Secret/team created" in add(user, "team", "registry.test:5000").stdout
    assert held(user, "team")["auths"]["registry.test:5000"]["password"] == PASSWORD
    live = user.get("secrets", "team")
    assert live["type"] == "kubernetes.io/dockerconfigjson"
    assert live["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "paddlespec"}
    other = add(user, "team", "registry.test:5000", stdin="canary-2\n")
    assert "Secret/team configured" in other.stdout
    assert held(user, "team")["auths"]["registry.test:5000"]["password"] == "canary-2"
    table = user.run("get", "registries").stdout.splitlines()
    assert table[1].split() == ["team", "registry.test:5000", "bot", "yes"]
    output = json.loads(user.run("registry", "list", "-o", "json").stdout)
    assert output["registries"][0]["servers"] == ["registry.test:5000"]
    user.run("registry", "delete", "team")
    assert user.get_or_none("secrets", "team") is None
    assert (
        "pull secret team does not exist" in user.run("registry", "delete", "team", code=3).stderr
    )


def test_what_others_have_made_is_shown_and_stays(user: User) -> None:
    user.plane.kubectl(
        *("create", "secret", "docker-registry", "theirs", "-n", user.namespace),
        *("--docker-username=bot", f"--docker-password={PASSWORD}"),
    )
    assert user.run("get", "registries").stdout.splitlines()[1].split() == [
        "theirs",
        "docker.io",
        "bot",
        "no",
    ]
    assert "was not created by paddlespec" in add(user, "theirs", "registry.test", code=3).stderr
    assert (
        "was not created by paddlespec" in user.run("registry", "delete", "theirs", code=3).stderr
    )
    assert user.get_or_none("secrets", "theirs") is not None


def test_a_credential_helper_supplies_user_and_password(user: User) -> None:
    script = user.folder / "docker-credential-vault"
    script.write_text(
        "#!/bin/sh\nread -r server\n"
        f'[ "$server" = registry.test ] || {{ echo canary-error; exit 1; }}\n'
        f'echo \'{{"Username": "bot", "Secret": "{PASSWORD}"}}\'\n'
    )
    script.chmod(0o755)
    path = f"{user.folder}:{user.environment['PATH']}"
    words = ("registry", "add", "team", "--helper", "vault", "--server")
    typed(user, *words, "registry.test", PATH=path)
    assert held(user, "team")["auths"]["registry.test"]["username"] == "bot"
    message = typed(user, *words, "other.test", PATH=path, code=3).stderr
    assert "docker-credential-vault has no password for other.test" in message
    assert "cannot run docker-credential-" in typed(user, *words, "registry.test", code=3).stderr


def test_without_a_password_nothing_is_written(user: User) -> None:
    assert "the password is empty" in add(user, "team", "registry.test", stdin="", code=2).stderr
    words = ("registry", "add", "team", "--server", "registry.test")
    assert "no --username given" in typed(user, *words, code=2).stderr
    assert "no password given" in typed(user, *words, "--username", "bot", code=2).stderr
    assert user.get_or_none("secrets", "team") is None


def test_a_registry_is_asked_for_an_image(user: User, server: Server) -> None:
    assert user.run("registry", "check", f"{server.host}/open:1").stdout.endswith(f"{DIGEST}\n")
    missing = user.run("registry", "check", f"{server.host}/open:2", code=3).stderr
    assert f"image open:2 not found in registry {server.host}" in missing
    assert {authorization for _, authorization in server.seen} == {None}


def test_a_token_is_asked_for_with_the_pull_secret(user: User, server: Server) -> None:
    image = f"{server.host}/closed:1"
    assert (
        "denied a token for anonymous users" in user.run("registry", "check", image, code=3).stderr
    )
    add(user, "team", server.host)
    server.seen.clear()
    assert DIGEST in user.run("registry", "check", image, "--registry", "team").stdout
    # The password is sent only to the token server, the token to the registry.
    assert [(path.partition("?")[0], sent) for path, sent in server.seen] == [
        ("/v2/closed/manifests/1", None),
        ("/token", BASIC),
        ("/v2/closed/manifests/1", "Bearer a-token"),
    ]
    assert "service=it&scope=repository%3Aclosed%3Apull" in server.seen[1][0]
    other = user.run("registry", "check", "other.test/x:1", "--registry", "team", code=3).stderr
    assert f"pull secret team is for {server.host}, not other.test" in other


def test_all_images_of_a_spec_are_asked_for_with_its_pull_secret(
    user: User, server: Server
) -> None:
    path = user.write(
        "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {name: fit}\nspec:\n"
        f"  mode: ps\n  image: {server.host}/open:1\n  command: python train.py\n  registry: team\n"
        f"  trainers: {{replicas: 2}}\n  pservers: {{replicas: 1, image: '{server.host}/closed:1'}}\n"
    )
    missing = user.run("registry", "check", path, code=3)
    assert f"fit: pull secret team does not exist in namespace {user.namespace}" in missing.stderr
    assert "paddlespec registry add team" in missing.stderr
    add(user, "team", server.host)
    assert user.run("registry", "check", "-f", path).stdout.splitlines() == [
        f"{server.host}/open:1: {DIGEST}",
        f"{server.host}/closed:1: {DIGEST}",
    ]
    other = user.run("registry", "check", path, "-u", f"image={server.host}/open:2", code=3)
    assert other.stdout == f"{server.host}/closed:1: {DIGEST}\n"
    assert "open:2 not found" in other.stderr
    add(user, "elsewhere", "other.test")
    denied = user.run("registry", "check", path, "--registry", "elsewhere", code=3)
    assert "denied a token for anonymous users" in denied.stderr
    (own,) = [
        secret
        for secret in json.loads(user.run("registry", "list", "-A", "-o", "json").stdout)[
            "registries"
        ]
        if secret["namespace"] == user.namespace and secret["name"] == "team"
    ]
    assert own["servers"] == [server.host]
    assert f"{user.namespace}/team\n" in user.run("get", "registries", "-A", "-o", "name").stdout


def test_a_password_may_be_enough(user: User, server: Server) -> None:
    words = ("registry", "check", f"{server.host}/basic:1", "--username", "bot")
    assert DIGEST in typed(user, *words, "--password-stdin").stdout
    message = typed(user, *words, "--password-stdin", stdin="canary-wrong", code=3).stderr
    assert "denied for user bot" in message


def test_an_unreachable_registry_is_told(user: User, server: Server) -> None:
    server.server_close()
    message = user.run("registry", "check", f"{server.host}/open:1", code=3).stderr
    assert f"cannot reach registry {server.host}" in message


def test_a_password_in_a_name_is_not_told(user: User, server: Server) -> None:
    for words in (("check", "bot:canary@r.test/a"), ("add", "team", "--server", "bot:canary@r")):
        user.run("registry", *words, code=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python", Image("docker.io", "library/python", "latest")),
        ("paddlepaddle/paddle:2.6.2", Image("docker.io", "paddlepaddle/paddle", "2.6.2")),
        ("localhost/a", Image("localhost", "a", "latest")),
        ("r.test:5000/a/b", Image("r.test:5000", "a/b", "latest")),
        (f"r.test/a:1@{DIGEST}", Image("r.test", "a", DIGEST)),
    ],
)
def test_the_parts_of_a_name(text: str, expected: Image) -> None:
    assert image_of(text) == expected


@pytest.mark.parametrize("text", ["", "A", "r.test/a:b:c", "r.test/a@x", "u:p@r.test/a", "a b"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        image_of(text)


@pytest.mark.parametrize("server", ["docker.io", "r.test:5000"])
def test_a_secret_holds_what_it_was_made_of_and_shows_none_of_it(server: str) -> None:
    known = Known("bot", PASSWORD)
    assert known_to(secret("a", "b", server, known)) == {server: known}
    assert "canary" not in f"{known!r} {known}"
    assert server_of(f"https://{server}/v1/") == server


def test_credentials_that_no_registry_takes_are_refused(user: User) -> None:
    message = add(user, "team", "registry.test", stdin="canary-1\ncanary-2\n", code=2).stderr
    assert "more than one line" in message
    binary = subprocess.run(
        [*COMMAND, "registry", "add", "team", "--username", "bot", "--password-stdin"],
        input=b"\xff\xfe\n",
        env=user.environment,
        cwd=user.folder,
        capture_output=True,
        check=False,
    )
    assert (binary.returncode, b"not valid UTF-8" in binary.stderr) == (2, True)
    for name in ("", "a:b"):
        words = ("--username", name, "--password-stdin")
        message = typed(user, "registry", "add", "team", *words, code=2).stderr
        assert "must not be empty, or contain a colon" in message
    assert user.get_or_none("secrets", "team") is None
