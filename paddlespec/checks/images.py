"""Check that the image can run what the spec asks for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.checks import reads
from paddlespec.images.reference import fault
from paddlespec.render import roles
from paddlespec.render.devices import DEVICES, device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Job, Role
    from paddlespec.render.roles import RoleName

_OFFICIAL = "paddlepaddle/paddle"
_OLD_PROGRAMS = "FLAGS_enable_pir_api"


class Image(NamedTuple):
    """The parts of an image reference."""

    repository: str
    tag: str | None
    digest: str | None

    @property
    def is_official(self) -> bool:
        """Whether this is Paddle's own image, possibly from a mirror."""
        return self.repository == _OFFICIAL or self.repository.endswith(f"/{_OFFICIAL}")

    @property
    def version(self) -> tuple[int, int] | None:
        """Major and minor version of an official CPU image, whose tag is a plain version."""
        match = _plain_version().match(self.tag or "") if self.is_official else None
        return (int(match[1]), int(match[2])) if match else None

    @property
    def release(self) -> tuple[int, int] | None:
        """Major and minor version of an official image of any kind."""
        match = _any_version().match(self.tag or "") if self.is_official else None
        return (int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=64)
def image(name: str) -> Image:
    """Split *name*; a colon before the last slash belongs to the port of the registry."""
    rest, _, digest = name.partition("@")
    folder, slash, last = rest.rpartition("/")
    base, colon, tag = last.partition(":")
    return Image(f"{folder}{slash}{base}", tag if colon else None, digest or None)


@lru_cache(maxsize=1)
def _plain_version() -> re.Pattern[str]:
    return re.compile(r"([0-9]{1,3})\.([0-9]{1,3})(\.[0-9]+)?(-?(rc|a|b|beta|alpha)[0-9.]*)?\Z")


@lru_cache(maxsize=1)
def _any_version() -> re.Pattern[str]:
    return re.compile(r"([0-9]{1,3})\.([0-9]{1,3})(?![0-9])")


def image_of(job: Job, name: RoleName, role: Role) -> tuple[Path, str]:
    return (
        ((*roles.path(name), "image"), role.image)
        if role.image
        else (("spec", "image"), job.spec.image)
    )


@reads("spec.image", "spec.{role}.image")
def spelling(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The cluster reports an invalid image name only after every pod waits for the image."""
    path, text = image_of(facts.job, name, role)
    if invalid := fault(text):
        yield facts.error("image-name", invalid.message, path, invalid.hint)


@reads("spec.image", "spec.{role}.image")
def tag(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The reviewed image must be the one that runs: without a version it may change."""
    path, text = image_of(facts.job, name, role)
    reference = image(text)
    if reference.digest is None and reference.tag in (None, "latest"):
        problem = "has the tag latest" if reference.tag else "has no tag"
        message = f"the image {problem} and may change between runs"
        hint = "use a version such as paddlepaddle/paddle:2.6.2, or a digest"
        yield facts.warning("image-tag", message, path, hint)


@reads("spec.mode", "spec.image", "spec.{role}.image", "spec.env", "spec.{role}.env")
def parameter_server(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The CPU builds of Paddle 3.1 and later do not include the parameter server."""
    spec = facts.job.spec
    if spec.mode != "ps":
        return
    path, text = image_of(facts.job, name, role)
    version = image(text).version
    if version is None or version[0] < 3:
        return
    if version >= (3, 1):
        number = f"{version[0]}.{version[1]}"
        message = f"the CPU build of Paddle {number} does not include the parameter server"
        hint = "use a 2.x image such as paddlepaddle/paddle:2.6.2, or one built WITH_PSCORE"
        yield facts.warning("no-ps-runtime", message, path, hint)
    elif _OLD_PROGRAMS not in spec.env and _OLD_PROGRAMS not in role.env:
        message = f"the parameter server of Paddle 3.0 requires {_OLD_PROGRAMS}=0"
        hint = f'add `env: {{{_OLD_PROGRAMS}: "0"}}`, or use paddlepaddle/paddle:2.6.2'
        yield facts.warning("no-ps-runtime", message, path, hint)


@reads("spec.image", "spec.{role}.image", "spec.{role}.resources")
def for_accelerators(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A CPU image leaves the accelerators idle."""
    if not role.resources.gpu:
        return
    path, text = image_of(facts.job, name, role)
    if image(text).version:
        message = (
            f"{image(text).tag} is a CPU image, but {roles.clause(name, 'request')} accelerators"
        )
        kind = device(role.resources.accelerator)
        hint = f"use an image of Paddle for {kind.name if kind else role.resources.accelerator}"
        if kind is None or kind is DEVICES[0]:
            hint = "use a tag of paddlepaddle/paddle with gpu in its name"
        yield facts.warning("cpu-image", message, path, hint)
