"""`registry add`: write a pull secret."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from paddlespec.cli.shared import options, pull_secrets
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop

_PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_PART}(\.{_PART})*")


def add(
    name: pull_secrets.Name,
    *,
    server: Annotated[
        str, typer.Option("--server", metavar="HOST", help="Host of the registry.")
    ] = "docker.io",
    login: pull_secrets.Login,
    datacenter: options.Datacenter = None,
    cluster: options.Cluster,
) -> int:
    """
    Write a pull secret, or change the password of one.

    Reads the password from stdin, a credential helper of docker's, or a prompt; it is never an
    argument. Changes only pull secrets that this command wrote.

    \b
    paddlespec registry add team-registry --server registry.example.org --username bot
    paddlespec registry add team-registry --server registry.example.org --helper pass
    """
    from paddlespec.images.registry import server_of

    try:
        host = server_of(server)
    except ValueError:
        shown = pull_secrets.without_password(server)
        raise Stop(Exit.usage, f"--server {shown}: expected a host") from None
    # A password is not asked for in vain.
    if not _NAME.fullmatch(name):
        hint = "use lowercase letters, digits, - and ."
        raise Stop(Exit.usage, f'invalid name "{name}" for a pull secret', hint)
    credentials = login.credentials(host)
    with pull_secrets.pull_secrets_of(cluster, datacenter, "registry add") as place:
        is_new = place.pull_secrets.add(name, host, credentials)
    write.lines([f"Secret/{name} {'created' if is_new else 'configured'}"])
    write.note(f"to use it, write in a spec: registry: {name}")
    return Exit.done
