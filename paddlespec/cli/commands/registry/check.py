"""`registry check`: whether a registry has an image."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import options, pull_secrets
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop


def check(
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="An image, as in a spec.")],
    *,
    registry: Annotated[
        str | None,
        typer.Option("--registry", metavar="NAME", help="Log in with this pull secret."),
    ] = None,
    login: pull_secrets.Login,
    datacenter: options.Datacenter = None,
    cluster: options.Cluster,
) -> int:
    """
    Check whether a registry has an image.

    Pulls nothing, and asks anonymously unless --registry, --username or --helper is given. Exits
    with 3 if the registry does not have the image, or cannot be asked.

    \b
    paddlespec registry check paddlepaddle/paddle:2.6.2
    paddlespec registry check registry.example.org/team/train:1 --registry team-registry
    """
    from paddlespec.images.registry import digest_of, image_of

    try:
        parsed = image_of(image)
    except ValueError:
        shown = pull_secrets.without_password(image)
        raise Stop(Exit.usage, f'invalid image "{shown}"') from None
    credentials = login.optional_credentials(parsed.host)
    if registry is not None:
        if credentials is not None:
            raise Stop(Exit.usage, "--registry brings its own login: remove the other options")
        with pull_secrets.pull_secrets_of(cluster, datacenter, "registry check") as place:
            credentials = place.pull_secrets.credentials(registry, parsed.host)
    write.lines([f"{image}: {digest_of(parsed, credentials)}"])
    return Exit.done
