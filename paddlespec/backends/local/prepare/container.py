"""A replica in a container of its image: the image, and what the supervisor starts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.local.machine import podman
from paddlespec.backends.local.prepare import in_image, mounts
from paddlespec.backends.local.store.launch import Container
from paddlespec.render import runtime
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.backends.local.prepare.mounts import Place
    from paddlespec.backends.local.prepare.unpack import Code
    from paddlespec.backends.local.store.launch import Process
    from paddlespec.render.manifest import Manifest


class Shared(NamedTuple):
    """What all containers of one run share: podman, the folder and the code of the run, the shell."""

    podman: str
    folder: str
    uid: str
    code: Code
    shell: Mapping[str, str]


class Started(NamedTuple):
    """What a process executes."""

    argv: tuple[str, ...]
    env: dict[str, str]
    container: Container | None = None


def provide(program: str, processes: Sequence[Manifest], shell: Mapping[str, str]) -> None:
    """Pull the images of *processes* that this machine does not have."""
    for image in dict.fromkeys(map(_image, processes)):
        podman.provide(program, image, shell)


def probe(process: Process) -> None:
    """Raise `OperationFailed` if podman cannot create the container of *process*."""
    if process.container is not None:
        podman.probe(process.argv, process.env, process.container.name)


def started(
    run: Shared,
    process: Manifest,
    places: Sequence[Place],
    inner: Started,
    secret: Sequence[str],
    *,
    gpus: bool,
) -> Started:
    """Return the command of podman that starts *inner* in the image of *process*."""
    name, workdir = process["metadata"]["name"], process["spec"]["workdir"]
    folder = os.path.join(run.folder, "containers")
    os.makedirs(folder, exist_ok=True)
    container = Container(f"paddlespec-{run.uid[:8]}-{name}", os.path.join(folder, f"{name}.pid"))
    # Without a package and a folder, a pod starts in the folder of the image.
    is_default = workdir == runtime.DELIVERED and mounts.place_of(places, workdir) is None
    argv = in_image.argv(
        run.podman,
        container,
        _image(process),
        in_image.installing(inner.argv, run.code),
        None if is_default else workdir,
        places,
        inner.env,
        limits=in_image.limits(),
        gpus=gpus,
    )
    return Started(argv, in_image.environment(inner.env, run.shell, secret), container)


def _image(process: Manifest) -> str:
    image = process["spec"].get("image")
    if not image:
        raise OperationFailed(
            f"{process['metadata']['name']} has no image", "add `image` to the spec"
        )
    return in_image.qualified(image)
