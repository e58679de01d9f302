"""Check that sidecars have names, images and volumes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.checks.images import image
from paddlespec.checks.secrets import in_command
from paddlespec.checks.volumes import clean
from paddlespec.images.reference import fault
from paddlespec.render import roles, runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Sidecar, Spec
    from paddlespec.render.roles import RoleName

_SIDECARS = ("spec.sidecars", "spec.trainers.sidecars", "spec.pservers.sidecars", "spec.roles")
# Containers that targets add; the last one runs the command.
_RESERVED = ("unpack", "identity", "output", "wait-for-pservers", "paddle")


def listed(spec: Spec) -> Iterator[tuple[Path, Sidecar, list[RoleName]]]:
    """Yield every sidecar with its path and the roles that have it."""
    names = roles.names(spec)
    for index, sidecar in enumerate(spec.sidecars):
        yield ("spec", "sidecars", index), sidecar, names
    for name in names:
        for index, sidecar in enumerate(roles.role(spec, name).sidecars):
            yield (*roles.path(name), "sidecars", index), sidecar, [name]


@reads(*_SIDECARS)
def names(facts: Facts) -> Iterator[Diagnostic]:
    """Containers of one pod have different names."""
    seen: dict[tuple[str, str], Path] = {}
    for path, sidecar, having in listed(facts.job.spec):
        where = (*path, "name")
        first = next(
            (seen[role, sidecar.name] for role in having if (role, sidecar.name) in seen), None
        )
        if sidecar.name in _RESERVED or str(sidecar.name).startswith("paddlespec-"):
            message = f'container name "{sidecar.name}" is reserved by paddlespec'
            yield facts.error("sidecar", message, where, "use another name")
        elif first:
            line = facts.document.locate(first).line
            message = f'sidecar name "{sidecar.name}" is already used at line {line}'
            yield facts.error("sidecar", message, where, "use another name")
        for role in having:
            seen.setdefault((role, sidecar.name), where)


@reads(*_SIDECARS, "spec.volumes", "spec.trainers.volumes", "spec.pservers.volumes")
def volume_mounts(facts: Facts) -> Iterator[Diagnostic]:
    """A sidecar mounts volumes of its replica, each at its own path."""
    for path, sidecar, having in listed(facts.job.spec):
        seen: dict[str, str] = {}
        for index, mount in enumerate(sidecar.volume_mounts):
            where = (*path, "volumeMounts", index)
            known = {
                role: {volume.name: volume for volume in runtime.volumes(facts.job, role)}
                for role in having
            }
            lacks = next((role for role in having if mount.name not in known[role]), None)
            if lacks:
                names = ", ".join(known[lacks])
                message = f'{roles.clause(lacks, "have")} no volume "{mount.name}"'
                hint = f"use one of {names}" if names else "add it to `spec.volumes`"
                yield facts.error("sidecar", message, (*where, "name"), hint)
                continue
            folder = clean(mount.mount_path or known[having[0]][mount.name].mount_path)
            if folder in seen:
                message = f"mount path {folder} is already used by volume {seen[folder]}"
                key = "mountPath" if mount.mount_path else "name"
                yield facts.error("mount-path", message, (*where, key))
            sub = mount.sub_path
            if sub is not None and (sub.startswith("/") or ".." in sub.split("/")):
                message = f'subPath "{sub}" points outside the volume'
                hint = "use a path relative to the root of the volume, without .."
                yield facts.error("sub-path", message, (*where, "subPath"), hint)
            seen.setdefault(folder, mount.name)


@reads(*_SIDECARS)
def images(facts: Facts) -> Iterator[Diagnostic]:
    """Images of sidecars are checked as those of roles are."""
    for path, sidecar, _ in listed(facts.job.spec):
        where = (*path, "image")
        if sidecar.image is None:
            continue
        if invalid := fault(sidecar.image):
            yield facts.error("image-name", invalid.message, where, invalid.hint)
            continue
        reference = image(sidecar.image)
        if reference.digest is None and reference.tag in (None, "latest"):
            problem = "has the tag latest" if reference.tag else "has no tag"
            message = f"the image {problem} and may change between runs"
            yield facts.warning("image-tag", message, where, "use a version, or a digest")


@reads(*_SIDECARS)
def commands(facts: Facts) -> Iterator[Diagnostic]:
    """Commands of sidecars are visible to everyone who may read pods."""
    for path, sidecar, _ in listed(facts.job.spec):
        if isinstance(sidecar.command, str) and sidecar.args:
            message = "`args` have no effect beside a command that a shell runs"
            hint = "write `command` as a list, or add the arguments to it"
            yield facts.error("args", message, (*path, "args"), hint, key=True)
        for name, words in (("command", sidecar.command), ("args", sidecar.args)):
            if words:
                yield from in_command(facts, (*path, name), words)
