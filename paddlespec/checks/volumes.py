"""Check that volumes can be mounted and do not hide each other."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.checks import reads
from paddlespec.checks.written import has_unknown_keys
from paddlespec.quantity import quantity
from paddlespec.render import roles, runtime
from paddlespec.spec.layer import VOLUME_SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Spec, Volume

_SOURCES = {source: source for source in sorted(VOLUME_SOURCES)} | {
    "hostPath": "host_path",
    "emptyDir": "empty_dir",
    "configMap": "config_map",
}
_FIELDS = VOLUME_SOURCES | {"name", "mountPath", "subPath", "readOnly", "defaultMode"}
_RESERVED_MOUNTS = ("/dev/shm", "/paddlespec")
_LEGACY_MOUNTS = ("/trainer_id", "/trainer_count")
_LISTS = ("spec.volumes", "spec.trainers.volumes", "spec.pservers.volumes", "spec.roles")


def clean(path: str) -> str:
    """Normalize *path*: single slashes, none at the end."""
    if "//" in path or "/." in path:
        path = "/" + posixpath.normpath(path).lstrip("/")
    return path.rstrip("/") or "/"


def holds(folder: str, path: str) -> bool:
    """Whether the clean *path* is *folder* or is inside it."""
    return path == folder or path.startswith(folder if folder == "/" else f"{folder}/")


def mount_of(volumes: list[Volume], path: str) -> Volume | None:
    """Return the innermost volume that contains *path*."""
    path = clean(path)
    matches = [volume for volume in volumes if holds(clean(volume.mount_path), path)]
    return max(matches, key=lambda volume: len(clean(volume.mount_path)), default=None)


def writable(volume: Volume) -> bool:
    """Whether replicas can write to *volume*."""
    return not (volume.read_only or volume.config_map or volume.secret)


class Together(NamedTuple):
    """Volumes that the same replicas mount, with their paths; only those from *own* on are new."""

    volumes: list[tuple[Path, Volume]]
    own: int

    def named(self) -> Iterator[tuple[int, Path, Volume]]:
        """Yield the volumes with their positions."""
        for index, (path, volume) in enumerate(self.volumes):
            yield index, path, volume


def together(spec: Spec) -> Iterator[Together]:
    """Yield the volumes of the spec, then those of each role that has its own, after them."""
    common = [(("spec", "volumes", index), volume) for index, volume in enumerate(spec.volumes)]
    listed: list[tuple[Path, Volume]] = [*common]
    yield Together(listed, 0)
    for name in roles.names(spec):
        if volumes := roles.role(spec, name).volumes:
            own: list[tuple[Path, Volume]] = [
                ((*roles.path(name), "volumes", index), volume)
                for index, volume in enumerate(volumes)
            ]
            yield Together([*common, *own], len(common))


def _every(facts: Facts) -> Iterator[tuple[Path, Volume]]:
    """Yield every volume once."""
    for group in together(facts.job.spec):
        yield from group.volumes[group.own :]


@reads(*_LISTS)
def new_claims(facts: Facts) -> Iterator[Diagnostic]:
    """A new claim has a size above zero."""
    for path, volume in _every(facts):
        claim = volume.claim
        if claim is not None and not isinstance(claim, str) and quantity(claim.size) == 0:
            where = (*path, "claim", "size")
            yield facts.error("no-resources", "a claim of size 0 cannot be created", where)


@reads(*_LISTS)
def one_source(facts: Facts) -> Iterator[Diagnostic]:
    """A volume has exactly one source."""
    for path, volume in _every(facts):
        sources = [key for key, name in _SOURCES.items() if getattr(volume, name) is not None]
        if len(sources) > 1:
            message = f"volume {volume.name} has {len(sources)} sources: {', '.join(sources)}"
            yield facts.error("volume-source", message, (*path, sources[1]), "keep one", key=True)
        elif not sources and not has_unknown_keys(facts.document, path, _FIELDS):
            message = f"volume {volume.name} has no source"
            hint = f"add one of {', '.join(_SOURCES)}"
            yield facts.error("volume-source", message, (*path, "name"), hint)
        elif volume.default_mode and sources and not {*sources} & {"configMap", "secret"}:
            message = f"a volume of kind {sources[0]} has no files of its own for `defaultMode`"
            where = (*path, "defaultMode")
            yield facts.error("volume-source", message, where, "remove it", key=True)


@reads(*_LISTS)
def names(facts: Facts) -> Iterator[Diagnostic]:
    """Volume names are unique in a role, those of new claims in the job, and some are reserved."""
    claims: dict[str, Path] = {}
    for group in together(facts.job.spec):
        seen: dict[str, Path] = {}
        for index, path, volume in group.named():
            name, where = volume.name, (*path, "name")
            first = seen.get(name) or (claims.get(name) if runtime.new_claim(volume) else None)
            if index < group.own:
                pass
            elif name == "dshm" or name.startswith("paddlespec-"):
                message = f'volume name "{name}" is reserved by paddlespec'
                yield facts.error("volume-name", message, where, "use another name")
            elif first:
                line = facts.document.locate(first).line
                message = f'volume name "{name}" is already used at line {line}'
                yield facts.error("volume-name", message, where, "use another name")
            seen.setdefault(name, where)
            if runtime.new_claim(volume):
                claims.setdefault(name, where)


@reads(*_LISTS, "spec.mode")
def mounts(facts: Facts) -> Iterator[Diagnostic]:
    """Every volume has its own mount path."""
    for group in together(facts.job.spec):
        seen: dict[str, Volume] = {}
        for index, path, volume in group.named():
            where = clean(volume.mount_path)
            if index >= group.own:
                yield from _mount(facts, (*path, "mountPath"), where, seen.get(where))
            seen.setdefault(where, volume)


def _mount(facts: Facts, path: Path, where: str, other: Volume | None) -> Iterator[Diagnostic]:
    legacy = facts.job.spec.mode == "legacy" and where in _LEGACY_MOUNTS
    if where == "/":
        message = "a mount at / hides the whole image"
        yield facts.error("mount-path", message, path, "mount it at a folder such as /data")
    elif legacy or any(holds(folder, where) for folder in _RESERVED_MOUNTS):
        message = f"mount path {where} is reserved by paddlespec"
        is_shared_memory = where == "/dev/shm"
        hint = "set its size with `resources.sharedMemory`" if is_shared_memory else None
        yield facts.error("mount-path", message, path, hint)
    elif other:
        message = f"mount path {where} is already used by volume {other.name}"
        yield facts.error("mount-path", message, path)


@reads(*_LISTS)
def nested(facts: Facts) -> Iterator[Diagnostic]:
    """A mount inside another one needs an existing folder and a later place in the list."""
    for group in together(facts.job.spec):
        if len(group.volumes) > 1:
            yield from _nested(facts, group)


def _nested(facts: Facts, group: Together) -> Iterator[Diagnostic]:
    positions = {clean(volume.mount_path): index for index, _, volume in group.named()}
    for inner, index in positions.items():
        outer = next((parent for parent in _parents(inner) if parent in positions), None)
        if outer is None or max(index, positions[outer]) < group.own:
            continue
        volume, path = group.volumes[positions[outer]][1], (*group.volumes[index][0], "mountPath")
        if not writable(volume):
            message = f"{inner} is inside volume {volume.name}, which is read-only"
            hint = f"create the folder in {volume.name} before the job starts"
            yield facts.warning("nested-mount", message, path, hint)
        elif index < positions[outer]:
            message = f"{inner} is inside volume {volume.name}, which is listed after it"
            hint = f"list {volume.name} first: some container runtimes mount in list order"
            yield facts.warning("nested-mount", message, path, hint)


def _parents(path: str) -> Iterator[str]:
    """Yield the folders above the clean *path*, innermost first, without the root."""
    while path := path.rpartition("/")[0]:
        yield path


@reads(*_LISTS, "spec.workdir", "spec.package")
def code_is_seen(facts: Facts) -> Iterator[Diagnostic]:
    """The code is delivered to a volume at workdir, which another mount would hide."""
    package = facts.job.spec.package
    if package is None or package.path.startswith("/"):
        return
    workdir = clean(runtime.delivered_to(facts.job))
    code = clean(runtime.code_folder(facts.job) or workdir)
    if workdir == "/":
        message = "the package would hide the whole image, because `workdir` is /"
        yield facts.error("hidden-code", message, ("spec", "workdir"), "use `workdir: /workspace`")
        return
    for listed, volume in _every(facts):
        where = clean(volume.mount_path)
        path = (*listed, "mountPath")
        if holds(workdir, where) and holds(where, code):
            message = f"volume {volume.name} hides the package, which is delivered to {code}"
            hint = "mount it elsewhere, or use another `workdir`"
            yield facts.error("hidden-code", message, path, hint)
        elif where != "/" and holds(where, workdir):
            message = f"the package hides {workdir} on volume {volume.name}"
            hint = "use a `workdir` outside all mounts; files written here are lost"
            yield facts.warning("hidden-code", message, path, hint)


@reads(*_LISTS, "spec.trainers.replicas", "spec.pservers.replicas")
def shared_claims(facts: Facts) -> Iterator[Diagnostic]:
    """All replicas of the job, or of a role, mount a volume, and a claim must allow that."""
    for listed, volume in _every(facts):
        claim = volume.claim
        if claim is None or isinstance(claim, str):
            continue
        path = (*listed, "claim", "access")
        owner = roles.under(listed)
        sharing = [owner] if owner else roles.names(facts.job.spec)
        replicas = sum(runtime.replicas(facts.job, name) for name in sharing)
        if claim.access in ("ReadWriteOnce", "ReadWriteOncePod") and replicas > 1:
            where = "node" if claim.access == "ReadWriteOnce" else "replica"
            whose = roles.clause(owner, "have") if owner else "the job has"
            message = (
                f"{claim.access} allows one {where} to mount volume {volume.name}, "
                f"but {whose} {replicas} replicas"
            )
            hint = "use `access: ReadWriteMany`, or `emptyDir` for scratch space"
            yield facts.warning("claim-access", message, path, hint)
        elif claim.access == "ReadOnlyMany":
            message = f"volume {volume.name} is new and ReadOnlyMany, so it stays empty"
            yield facts.warning("claim-access", message, path, "use `access: ReadWriteMany`")


@reads(*_LISTS)
def sub_paths(facts: Facts) -> Iterator[Diagnostic]:
    """`subPath` stays inside its volume."""
    for listed, volume in _every(facts):
        sub = volume.sub_path
        if sub is not None and (sub.startswith("/") or ".." in sub.split("/")):
            message = f'subPath "{sub}" points outside the volume'
            path = (*listed, "subPath")
            hint = "use a path relative to the root of the volume, without .."
            yield facts.error("sub-path", message, path, hint)
