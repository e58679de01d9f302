"""Whether the image can run what the spec asks for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.checks import reads
from paddlespec.checks.reference import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Job, Role

_OFFICIAL = "paddlepaddle/paddle"
_OLD_PROGRAMS = "FLAGS_enable_pir_api"


class Image(NamedTuple):
    """The parts of an image's name."""

    repository: str
    tag: str | None
    digest: str | None

    @property
    def is_official(self) -> bool:
        """Whether it is Paddle's own image, possibly from a mirror."""
        return self.repository == _OFFICIAL or self.repository.endswith(f"/{_OFFICIAL}")

    @property
    def version(self) -> tuple[int, int] | None:
        """Major and minor version of an official image for CPUs, which has nothing in its tag."""
        match = _plain_version().match(self.tag or "") if self.is_official else None
        return (int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=64)
def image(name: str) -> Image:
    """The parts of *name*; a colon before the last slash is a registry's port."""
    rest, _, digest = name.partition("@")
    folder, slash, last = rest.rpartition("/")
    base, colon, tag = last.partition(":")
    return Image(f"{folder}{slash}{base}", tag if colon else None, digest or None)


@lru_cache(maxsize=1)
def _plain_version() -> re.Pattern[str]:
    return re.compile(r"([0-9]{1,3})\.([0-9]{1,3})(\.[0-9]+)?(-?(rc|a|b|beta|alpha)[0-9.]*)?\Z")


def _of_role(job: Job, name: RoleName, role: Role) -> tuple[Path, str]:
    return (
        (("spec", name, "image"), role.image) if role.image else (("spec", "image"), job.spec.image)
    )


@reads("spec.image", "spec.{role}.image")
def spelling(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A name that no registry takes would be told by the cluster, once every pod waits for it."""
    path, text = _of_role(facts.job, name, role)
    if found := fault(text):
        yield facts.error("image-name", found.message, path, found.hint)


@reads("spec.image", "spec.{role}.image")
def tag(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """What was reviewed is what runs: an image without a version may be another one tomorrow."""
    path, text = _of_role(facts.job, name, role)
    own = image(text)
    if own.digest is None and own.tag in (None, "latest"):
        what = "has the tag latest" if own.tag else "has no tag"
        hint = "name a version, such as paddlepaddle/paddle:2.6.2, or a digest"
        yield facts.warning(
            "image-tag", f"the image {what}: it may change between runs", path, hint
        )


@reads("spec.mode", "spec.image", "spec.{role}.image", "spec.env", "spec.{role}.env")
def parameter_server(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Paddle 3.1 and later are published for CPUs without the parameter server."""
    spec = facts.job.spec
    if spec.mode != "ps":
        return
    path, text = _of_role(facts.job, name, role)
    version = image(text).version
    if version is None or version[0] < 3:
        return
    if version >= (3, 1):
        message = f"Paddle {version[0]}.{version[1]} for CPUs has no parameter server inside"
        hint = "use a 2.x image such as paddlepaddle/paddle:2.6.2, or one built WITH_PSCORE"
        yield facts.warning("no-ps-runtime", message, path, hint)
    elif _OLD_PROGRAMS not in spec.env and _OLD_PROGRAMS not in role.env:
        message = f"the parameter server of Paddle 3.0 needs {_OLD_PROGRAMS}=0"
        hint = f'add `env: {{{_OLD_PROGRAMS}: "0"}}`, or use paddlepaddle/paddle:2.6.2'
        yield facts.warning("no-ps-runtime", message, path, hint)


@reads("spec.image", "spec.{role}.image", "spec.{role}.resources.gpu")
def for_accelerators(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """An image for CPUs leaves the accelerators idle."""
    if not role.resources.gpu:
        return
    path, text = _of_role(facts.job, name, role)
    if image(text).version:
        message = f"{image(text).tag} is the image for CPUs, {name} ask for accelerators"
        hint = "choose a tag with gpu in it; see the list of paddlepaddle/paddle"
        yield facts.warning("cpu-image", message, path, hint)
