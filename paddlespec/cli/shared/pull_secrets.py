"""The pull secrets that a command works on, and where credentials come from."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paddlespec.backends.capabilities import PullSecrets
    from paddlespec.backends.protocols import Engine
    from paddlespec.cli.shared.options import Cluster
    from paddlespec.images.registry import Credentials

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the pull secret.")]


class Login(NamedTuple):
    """Where a user and a password come from."""

    username: Annotated[
        str | None, typer.Option("--username", metavar="USER", help="User at the registry.")
    ] = None
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False
    helper: Annotated[
        str | None,
        typer.Option("--helper", metavar="HELPER", help="Ask docker-credential-HELPER."),
    ] = None

    def credentials(self, server: str) -> Credentials:
        """The credentials for *server*; a prompt is the last resort. Raises `Stop`."""
        from paddlespec.images.registry import Credentials

        if self.helper is not None:
            if self.password_stdin:
                raise Stop(Exit.usage, "--helper and --password-stdin exclude each other")
            return _from_helper(self.helper, server)
        if self.username is None:
            raise Stop(Exit.usage, "no --username given", "add --username USER or --helper HELPER")
        if not self.username or ":" in self.username:
            raise Stop(Exit.usage, "--username must not be empty, or contain a colon")
        password = _from_stdin() if self.password_stdin else _from_prompt(self.username, server)
        if not password:
            raise Stop(Exit.usage, "the password is empty")
        return Credentials(self.username, password)

    def optional_credentials(self, server: str) -> Credentials | None:
        """The credentials for *server*; None if no option asks for any."""
        is_asked = self.helper is not None or self.password_stdin or self.username is not None
        return self.credentials(server) if is_asked else None


class Place(NamedTuple):
    """The pull secrets of a namespace."""

    pull_secrets: PullSecrets
    namespace: str


@contextmanager
def pull_secrets_of(cluster: Cluster, datacenter: str | None, command: str) -> Iterator[Place]:
    """Open what *datacenter*, or else the configuration, points to."""
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines

    with Engines(cluster.request()) as engines:
        engine = engines.of_datacenter(datacenter)
        secrets = needed(engine.capabilities.pull_secrets, engine, command)
        yield Place(secrets, engine.namespace)


def logins(engine: Engine, name: str) -> dict[str, Callable[[], Credentials]]:
    """
    The logins of the pull secret *name* by registry, read when they are needed.

    Registries that a pull secret does not name are asked anonymously, as nodes do.
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.runs.failures import OperationFailed

    secrets = needed(engine.capabilities.pull_secrets, engine, "registry check")
    for secret in secrets.all():
        if secret.name == name:
            return {server: partial(secrets.credentials, name, server) for server in secret.servers}
    raise OperationFailed(
        f"pull secret {name} does not exist in namespace {engine.namespace}",
        f"paddlespec registry add {name} --server HOST --username USER",
    )


def without_password(text: str) -> str:
    """What was given as a name, without what may be a password in it."""
    return text.rpartition("@")[2]


def _from_prompt(username: str, server: str) -> str:
    if not sys.stdin.isatty():
        hint = "pipe it in with --password-stdin, or use --helper"
        raise Stop(Exit.usage, "no password given", hint)
    from getpass import getpass

    return getpass(f"password of {username} at {server}: ")


def _from_stdin() -> str:
    """A password of one line."""
    try:
        password = sys.stdin.buffer.read().decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise Stop(Exit.usage, "the password is not valid UTF-8") from None
    if "\n" in password:
        raise Stop(Exit.usage, "the password has more than one line")
    return password


def _from_helper(helper: str, server: str) -> Credentials:
    """Ask one of docker's credential helpers; neither its output nor its errors are printed."""
    import json
    import re
    import subprocess

    from paddlespec.images.registry import DOCKER_HUB, HUB_CONFIGURED, Credentials

    if not re.fullmatch(r"[A-Za-z0-9._-]+", helper):
        raise Stop(Exit.usage, "--helper: expected the end of docker-credential-HELPER")
    command = f"docker-credential-{helper}"
    asked = HUB_CONFIGURED if server == DOCKER_HUB else server
    try:
        done = subprocess.run(
            [command, "get"], input=asked, capture_output=True, text=True, check=False, timeout=60
        )
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        return Credentials(str(found["Username"]), str(found["Secret"]))
    except OSError:
        raise Stop(Exit.refused, f"cannot run {command}", "is it on the PATH?") from None
    except (ValueError, KeyError, TypeError, subprocess.SubprocessError):
        message = f"{command} has no password for {server}"
        raise Stop(Exit.refused, message, f"docker login {server}") from None
