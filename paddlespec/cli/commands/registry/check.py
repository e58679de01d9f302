"""`registry check`: whether a registry has an image, or all images of a spec."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import options, pull_secrets
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop, worst

if TYPE_CHECKING:
    from paddlespec.images.registry import Credentials, Image


def check(
    image: Annotated[
        str | None,
        typer.Argument(
            metavar="IMAGE|PATH", help="An image, or a spec: a path that exists or ends in .yaml."
        ),
    ] = None,
    *,
    file: options.File = None,
    registry: Annotated[
        str | None,
        typer.Option(
            "--registry",
            metavar="NAME",
            help="Log in with this pull secret [default: that of the spec].",
        ),
    ] = None,
    login: pull_secrets.Login,
    layers: options.Layers,
    cluster: options.Cluster,
) -> int:
    """
    Check whether registries have an image, or all images of a spec.

    Pulls nothing. Asks for the images of a spec as its pods would, with the pull secret of the
    cluster; for an image, anonymously unless --registry, --username or --helper is given. Exits
    with 3 if a registry does not have an image or cannot be asked, or the pull secret is missing.

    \b
    paddlespec registry check paddlepaddle/paddle:2.6.2
    paddlespec registry check registry.example.org/team/train:1 --registry team-registry
    paddlespec registry check paddlejob.yaml
    """
    if (image is None) == (file is None):
        raise Stop(Exit.usage, "name one image, or one spec", "paddlespec registry check IMAGE")
    if file is not None or _is_spec(str(image)):
        if login != pull_secrets.Login():
            hint = "remove --username, --password-stdin and --helper"
            raise Stop(Exit.usage, "the images of a spec are checked with its pull secret", hint)
        return _check_spec(file or str(image), registry, layers, cluster)
    parsed = _parsed(str(image))
    credentials = login.optional_credentials(parsed.host)
    if registry is not None:
        if credentials is not None:
            raise Stop(Exit.usage, "--registry brings its own login: remove the other options")
        with pull_secrets.pull_secrets_of(cluster, layers.datacenter, "registry check") as place:
            credentials = place.pull_secrets.credentials(registry, parsed.host)
    _check(str(image), parsed, credentials)
    return Exit.done


def _is_spec(text: str) -> bool:
    """Whether *text* names a spec: images have slashes too."""
    return text == "-" or text.endswith((".yaml", ".yml")) or os.path.exists(text)


def _parsed(image: str) -> Image:
    from paddlespec.images.registry import image_of

    try:
        return image_of(image)
    except ValueError:
        shown = pull_secrets.without_password(image)
        raise Stop(Exit.usage, f'invalid image "{shown}"') from None


def _check(image: str, parsed: Image, credentials: Credentials | None) -> None:
    from paddlespec.images.registry import digest_of

    write.lines([f"{image}: {digest_of(parsed, credentials)}"])


def _check_spec(
    path: str, registry: str | None, layers: options.Layers, cluster: options.Cluster
) -> int:
    """Check every image of the jobs of *path*; one that fails does not stop the others."""
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import refuse_namesakes
    from paddlespec.cli.shared.output import report_failure
    from paddlespec.cli.shared.session import load_valid
    from paddlespec.render import roles
    from paddlespec.runs.failures import OperationFailed

    chosen = layers.choices()
    jobs = load_valid([path], chosen.files(), chosen, quiet=True)
    refuse_namesakes(jobs, cluster.namespace)
    codes: list[int] = []
    with Engines(cluster.request()) as engines:
        for job in jobs:
            spec, name = job.job.spec, registry or job.job.spec.registry
            own = [roles.role(spec, role) for role in roles.names(spec)]
            images = dict.fromkeys(
                image
                for role in own
                for image in (
                    role.image or spec.image,
                    *(sidecar.image for sidecar in (*spec.sidecars, *role.sidecars)),
                )
            )
            try:
                known = pull_secrets.logins(engines.of(job), name) if name else {}
            except OperationFailed as error:
                codes.append(report_failure(job.job.metadata.name, error))
                continue
            for image in filter(None, images):
                parsed = _parsed(image)
                try:
                    login = known.get(parsed.host)
                    _check(image, parsed, login() if login else None)
                except OperationFailed as error:
                    codes.append(report_failure(image, error))
    return worst(codes)
