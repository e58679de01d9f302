"""Whether volumes can be mounted, and do not stand in each other's way."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads
from paddlespec.checks.written import has_unknown_keys
from paddlespec.layer import VOLUME_SOURCES
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Volume

_SOURCES = {each: each for each in sorted(VOLUME_SOURCES)} | {
    "hostPath": "host_path",
    "emptyDir": "empty_dir",
    "configMap": "config_map",
}
_FIELDS = VOLUME_SOURCES | {"name", "mountPath", "subPath", "readOnly"}
_OWN_MOUNTS = ("/dev/shm", "/paddlespec")
_IDENTITY = ("/trainer_id", "/trainer_count")


def clean(path: str) -> str:
    """*path* as the kernel reads it: one slash between the parts, none at the end."""
    if "//" in path or "/." in path:
        path = "/" + posixpath.normpath(path).lstrip("/")
    return path.rstrip("/") or "/"


def holds(folder: str, path: str) -> bool:
    """Whether the clean *path* is *folder*, or below it."""
    return path == folder or path.startswith(folder if folder == "/" else f"{folder}/")


def mount_of(volumes: list[Volume], path: str) -> Volume | None:
    """The volume on which *path* is: the innermost one."""
    path = clean(path)
    found = [each for each in volumes if holds(clean(each.mount_path), path)]
    return max(found, key=lambda each: len(clean(each.mount_path)), default=None)


def writable(volume: Volume) -> bool:
    """Whether replicas can write to *volume*."""
    return not (volume.read_only or volume.config_map or volume.secret)


@reads("spec.volumes")
def new_claims(facts: Facts) -> Iterator[Diagnostic]:
    """A claim that is created asks for some room."""
    for index, volume in enumerate(facts.job.spec.volumes):
        claim = volume.claim
        if claim is not None and not isinstance(claim, str) and quantity(claim.size) == 0:
            path = ("spec", "volumes", index, "claim", "size")
            yield facts.error("no-resources", "a claim without room cannot be created", path)


@reads("spec.volumes")
def one_source(facts: Facts) -> Iterator[Diagnostic]:
    """A volume is one thing."""
    for index, volume in enumerate(facts.job.spec.volumes):
        given = [key for key, name in _SOURCES.items() if getattr(volume, name) is not None]
        path = ("spec", "volumes", index)
        if len(given) > 1:
            message = f"volume {volume.name} has {len(given)} sources: {', '.join(given)}"
            yield facts.error("volume-source", message, (*path, given[1]), "keep one", key=True)
        elif not given and not has_unknown_keys(facts.document, path, _FIELDS):
            message = f"volume {volume.name} has no source"
            hint = f"add one of {', '.join(_SOURCES)}"
            yield facts.error("volume-source", message, (*path, "name"), hint)


@reads("spec.volumes")
def names(facts: Facts) -> Iterator[Diagnostic]:
    """Volumes of a pod have names of their own, and some are taken."""
    seen: dict[str, int] = {}
    for index, volume in enumerate(facts.job.spec.volumes):
        path = ("spec", "volumes", index, "name")
        if volume.name == "dshm" or volume.name.startswith("paddlespec-"):
            message = f"the volume name {volume.name} is paddlespec's own"
            yield facts.error("volume-name", message, path, "choose another name")
        elif volume.name in seen:
            first = facts.document.locate(("spec", "volumes", seen[volume.name], "name"))
            message = f"another volume is called {volume.name}, at line {first.line}"
            yield facts.error("volume-name", message, path, "choose another name")
        seen.setdefault(volume.name, index)


@reads("spec.volumes", "spec.mode")
def mounts(facts: Facts) -> Iterator[Diagnostic]:
    """Each volume is mounted at a place of its own."""
    seen: dict[str, Volume] = {}
    for index, volume in enumerate(facts.job.spec.volumes):
        path = ("spec", "volumes", index, "mountPath")
        where = clean(volume.mount_path)
        legacy = facts.job.spec.mode == "legacy" and where in _IDENTITY
        if where == "/":
            message = "a mount at / hides the whole image"
            yield facts.error("mount-path", message, path, "mount it at a folder such as /data")
        elif legacy or any(holds(each, where) for each in _OWN_MOUNTS):
            message = f"paddlespec itself mounts {where}"
            hint = "`resources.sharedMemory` says its size" if where == "/dev/shm" else None
            yield facts.error("mount-path", message, path, hint)
        elif where in seen:
            message = f"{where} is the mount of volume {seen[where].name} already"
            yield facts.error("mount-path", message, path)
        seen.setdefault(where, volume)


@reads("spec.volumes")
def nested(facts: Facts) -> Iterator[Diagnostic]:
    """A mount inside another one needs its folder there, and to come after it."""
    volumes = facts.job.spec.volumes
    if len(volumes) < 2:
        return
    places = {clean(each.mount_path): index for index, each in enumerate(volumes)}
    for inner, index in places.items():
        outer = next((each for each in _above(inner) if each in places), None)
        if outer is None:
            continue
        volume, path = volumes[places[outer]], ("spec", "volumes", index, "mountPath")
        if not writable(volume):
            message = f"{inner} is inside of volume {volume.name}, which is read-only"
            hint = f"the folder must exist in {volume.name} before the job starts"
            yield facts.warning("nested-mount", message, path, hint)
        elif index < places[outer]:
            message = f"{inner} is inside of volume {volume.name}, which comes after it"
            hint = f"write {volume.name} first: some container runtimes mount in this order"
            yield facts.warning("nested-mount", message, path, hint)


def _above(path: str) -> Iterator[str]:
    """The folders that hold the clean *path*, innermost first, the root left out."""
    while path := path.rpartition("/")[0]:
        yield path


@reads("spec.volumes", "spec.workdir", "spec.package")
def code_is_seen(facts: Facts) -> Iterator[Diagnostic]:
    """The code travels into a volume at workdir; another one there would hide it."""
    spec, package = facts.job.spec, facts.job.spec.package
    if package is None or package.path.startswith("/"):
        return
    workdir, code = clean(spec.workdir), clean(contract.code_folder(facts.job))
    if workdir == "/":
        message = "the package would hide the whole image: workdir is /"
        yield facts.error("hidden-code", message, ("spec", "workdir"), "use `workdir: /workspace`")
        return
    for index, volume in enumerate(spec.volumes):
        where = clean(volume.mount_path)
        path = ("spec", "volumes", index, "mountPath")
        if holds(workdir, where) and holds(where, code):
            message = f"volume {volume.name} hides the package, which is delivered to {code}"
            hint = "mount it elsewhere, or choose another `workdir`"
            yield facts.error("hidden-code", message, path, hint)
        elif where != "/" and holds(where, workdir):
            message = f"the package hides {workdir} on volume {volume.name}"
            hint = "files written there are lost; choose a `workdir` on no mount"
            yield facts.warning("hidden-code", message, path, hint)


@reads("spec.volumes", "spec.trainers.replicas", "spec.pservers.replicas")
def shared_claims(facts: Facts) -> Iterator[Diagnostic]:
    """All replicas mount every volume, which a claim must allow."""
    spec = facts.job.spec
    for index, volume in enumerate(spec.volumes):
        claim = volume.claim
        if claim is None or isinstance(claim, str):
            continue
        path = ("spec", "volumes", index, "claim", "access")
        replicas = contract.replicas(facts.job, "trainers") + contract.replicas(
            facts.job, "pservers"
        )
        if claim.access in ("ReadWriteOnce", "ReadWriteOncePod") and replicas > 1:
            where = "node" if claim.access == "ReadWriteOnce" else "replica"
            message = f"{claim.access} lets one {where} mount {volume.name}, there are {replicas} replicas"
            hint = "use `access: ReadWriteMany`, or `emptyDir` for scratch space"
            yield facts.warning("claim-access", message, path, hint)
        elif claim.access == "ReadOnlyMany":
            message = f"{volume.name} is new and ReadOnlyMany: it stays empty"
            yield facts.warning("claim-access", message, path, "use `access: ReadWriteMany`")


@reads("spec.volumes")
def sub_paths(facts: Facts) -> Iterator[Diagnostic]:
    """`subPath` stays inside of its volume."""
    for index, volume in enumerate(facts.job.spec.volumes):
        sub = volume.sub_path
        if sub is not None and (sub.startswith("/") or ".." in sub.split("/")):
            message = f'subPath "{sub}" leaves the volume'
            path = ("spec", "volumes", index, "subPath")
            hint = "write a path relative to the volume's root, without .."
            yield facts.error("sub-path", message, path, hint)
