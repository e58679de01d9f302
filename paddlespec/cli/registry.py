"""`registry` and `get registries`: pull secrets, and whether a registry has an image."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from paddlespec.cli import listing, options
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.client import Client
    from paddlespec.registry import Credentials

group = typer.Typer(
    name="registry",
    help="Pull secrets, which a spec's `registry` names; does a registry have an image.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the pull secret.")]
User = Annotated[
    str | None, typer.Option("--username", metavar="USER", help="User of the registry.")
]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input.")
]
Helper = Annotated[
    str | None,
    typer.Option("--helper", metavar="HELPER", help="Ask docker-credential-HELPER."),
]


@group.command()
def add(
    name: Name,
    server: Annotated[
        str, typer.Option("--server", metavar="HOST", help="The registry; docker.io if absent.")
    ] = "docker.io",
    username: User = None,
    password_stdin: FromStdin = False,
    helper: Helper = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Write a pull secret, or give one of ours another password.

    The password comes from standard input, a credential helper of docker's, or a prompt; it is
    never an argument.

    \b
    paddlespec registry add team-registry --server registry.example.org --username bot
    paddlespec registry add team-registry --server registry.example.org --helper pass
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cluster import pull_secrets
    from paddlespec.registry import server_of

    try:
        host = server_of(server)
    except ValueError:
        raise Stop(Exit.usage, f"--server {_bare(server)}: expected a host") from None
    held = _credentials(host, username, helper, stdin=password_stdin, ask=True)
    assert held is not None
    with Engines(kubeconfig, context, namespace, None) as engines:
        is_new = pull_secrets.add(_client(engines), name, host, held)
    sys.stdout.write(f"Secret/{name} {'created' if is_new else 'configured'}\n")
    sys.stderr.write(f"in a spec: registry: {name}\n")
    return Exit.done


def registries(
    output: listing.Form = "table",
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show the pull secrets of the namespace, without what is secret in them.

    \b
    paddlespec registry list
    paddlespec get registries
    paddlespec get registries -o json
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import note
    from paddlespec.cluster import pull_secrets
    from paddlespec.report.table import Column, table

    listing.check(output)
    with Engines(kubeconfig, context, namespace, None) as engines:
        client = _client(engines)
        found = pull_secrets.registries(client)
    if not found and output in ("table", "wide"):
        note(f"no pull secret in namespace {client.namespace}")
    heads = ("NAME", "SERVER", "USER", "OURS")
    columns = (*(Column(each) for each in heads), Column("CREATED", wide=True))
    rows = [
        (
            each.name,
            ",".join(each.servers),
            ",".join(each.users),
            "yes" if each.is_ours else "no",
            each.created,
        )
        for each in found
    ]
    data = [
        {
            "name": each.name,
            "servers": list(each.servers),
            "users": list(each.users),
            "ours": each.is_ours,
            "created": each.created or None,
        }
        for each in found
    ]
    listing.show(
        output,
        lambda: {"registries": data},
        lambda: [each.name for each in found],
        lambda wide, width: table(columns, rows, wide=wide, width=width),
    )
    return Exit.done


group.command("list")(registries)


@group.command()
def delete(
    name: Name,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Delete a pull secret that `registry add` has written; others stay.

    \b
    paddlespec registry delete team-registry
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cluster import pull_secrets

    with Engines(kubeconfig, context, namespace, None) as engines:
        pull_secrets.delete(_client(engines), name)
    sys.stdout.write(f"Secret/{name} deleted\n")
    return Exit.done


@group.command()
def check(
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="As in a spec.")],
    registry: Annotated[
        str | None,
        typer.Option("--registry", metavar="NAME", help="Ask with this pull secret."),
    ] = None,
    username: User = None,
    password_stdin: FromStdin = False,
    helper: Helper = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Ask a registry whether it has an image; nothing is pulled.

    Without --registry or --username as anybody. Exits with 3 when it has not, or cannot be asked.

    \b
    paddlespec registry check paddlepaddle/paddle:2.6.2
    paddlespec registry check registry.example.org/team/train:1 --registry team-registry
    """
    from paddlespec.cli.places import Engines
    from paddlespec.registry import digest_of, image_of

    try:
        wanted = image_of(image)
    except ValueError:
        raise Stop(Exit.usage, f"{_bare(image)} is not the name of an image") from None
    held = _credentials(wanted.host, username, helper, stdin=password_stdin, ask=False)
    if registry is not None:
        from paddlespec.cluster import pull_secrets

        if held is not None:
            raise Stop(Exit.usage, "--registry has a password already: leave out the other one")
        with Engines(kubeconfig, context, namespace, None) as engines:
            held = pull_secrets.credentials(_client(engines), registry, wanted.host)
    sys.stdout.write(f"{image}: {digest_of(wanted, held)}\n")
    return Exit.done


def _client(engines: Engines) -> Client:
    from paddlespec.cluster.engine import Engine

    return cast("Engine", engines.at(None)).client


def _credentials(
    server: str, username: str | None, helper: str | None, *, stdin: bool, ask: bool
) -> Credentials | None:
    """A user and a password from where the options say; a prompt is the last resort."""
    from paddlespec.registry import Credentials

    if helper is not None:
        if stdin:
            raise Stop(Exit.usage, "--helper and --password-stdin: one of them is enough")
        return _of_helper(helper, server)
    if not stdin and username is None and not ask:
        return None
    if username is None:
        raise Stop(Exit.usage, "no --username given", "--helper HELPER knows it by itself")
    if not username or ":" in username:
        raise Stop(Exit.usage, "--username: the name of a user is not empty, and has no colon")
    if stdin:
        password = _of_stdin()
    elif sys.stdin.isatty():
        from getpass import getpass

        password = getpass(f"password of {username} at {server}: ")
    else:
        raise Stop(Exit.usage, "no password given", "--password-stdin reads it from a pipe")
    if not password:
        raise Stop(Exit.usage, "the password is empty")
    return Credentials(username, password)


def _of_stdin() -> str:
    """A password of one line."""
    try:
        password = sys.stdin.buffer.read().decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise Stop(Exit.usage, "the password is no text in UTF-8") from None
    if "\n" in password:
        raise Stop(Exit.usage, "the password has more than one line")
    return password


def _of_helper(helper: str, server: str) -> Credentials:
    """What docker's credential helper has; neither its output nor its errors are shown."""
    import json
    import re
    import subprocess

    from paddlespec.registry import DOCKER_HUB, HUB_CONFIGURED, Credentials

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
        raise Stop(Exit.refused, f"{command} cannot be run", "is it on the PATH?") from None
    except (ValueError, KeyError, TypeError, subprocess.SubprocessError):
        told = f"{command} has no password for {server}"
        raise Stop(Exit.refused, told, f"docker login {server}") from None


def _bare(text: str) -> str:
    """What somebody gave for a name, without what may be a password in it."""
    return text.rpartition("@")[2]
