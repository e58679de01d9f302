"""
Workloads: the kinds of objects that run pods.

Each workload is a module of pure functions over manifests and live objects. Everything that
depends on a kind goes through this registry: apply, wait, status, kill, diff, quotas. Built-in
kinds and those of other packages are loaded the same way, by `Kind.group`, on first use.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from paddlespec.render.manifest import role
from paddlespec.workloads.kind import Kind, Patterns, Switch, covers
from paddlespec.workloads.live import is_child, is_going, is_queued
from paddlespec.workloads.roles import RolePods, has_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.metadata import EntryPoints

    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.state import RoleState
    from paddlespec.runs.values import Progress

__all__ = [
    "GROUP",
    "Kind",
    "Patterns",
    "RolePods",
    "Switch",
    "Workload",
    "covers",
    "has_template",
    "is_child",
    "is_going",
    "is_queued",
]

GROUP = "paddlespec.workloads"
# In the order in which they are applied: kinds that cannot be suspended come first.
_BUILT_IN = {
    "StatefulSet.apps": "paddlespec.workloads.stateful_set",
    "Job.batch": "paddlespec.workloads.job",
    "JobSet.jobset.x-k8s.io": "paddlespec.workloads.job_set",
}
# Groups whose other kinds run no pods; entry points of other packages are not searched for them.
_OTHERS = frozenset(
    ("", "coordination.k8s.io", "paddlespec.io", "scheduling.volcano.sh", "storage.k8s.io")
)
_TRAINERS = "trainers"
_DEFAULT_TARGET = "kubernetes"


class Workload(Protocol):
    """A workload, implemented by a module."""

    KIND: Kind

    def roles(self, manifest: Manifest) -> Sequence[RolePods]:
        """Return the roles that an object runs."""

    def progress(self, live: Manifest) -> Progress:
        """Return the progress of an object; only one that runs to completion has a verdict."""

    def counts(self, live: Manifest, children: Iterable[Manifest] = ()) -> Sequence[RoleState]:
        """Count the replicas of each role by the object's own status or that of its *children*."""

    def started(self, live: Manifest) -> str | None:
        """Return when its pods were allowed to start, in RFC 3339."""

    def finished(self, live: Manifest) -> str | None:
        """Return when it finished, in RFC 3339."""

    def keep_seconds(self, manifest: Manifest) -> int | None:
        """Return how long it is kept after it finishes; None means without limit."""


def find(manifest: Manifest) -> Workload | None:
    """Return the workload of *manifest*; None for objects that run no pods."""
    group = manifest["apiVersion"].rpartition("/")[0]
    return _load(manifest["kind"], group)


def of(manifest: Manifest) -> Workload:
    """Return the workload of *manifest*, which must run pods."""
    known = find(manifest)
    if known is None:
        raise LookupError(f"{manifest['kind']} is not a workload")
    return known


def named(kind: str) -> Workload | None:
    """Return the workload of *kind*, in any group."""
    own = next((name for name in _names() if name.partition(".")[0] == kind), None)
    return _load(*own.partition(".")[::2]) if own else None


def rendered_by(target: str, preferred: str | None = None) -> Workload:
    """Return the workload that *target* renders for a role: *preferred*, or its default."""
    listed: list[Workload] = []
    for name in _names():
        known = _load(*name.partition(".")[::2])
        if known is None or known.KIND.target != target:
            continue
        if known.KIND.kind == preferred:
            return known
        listed.append(known)
        if known.KIND.hold and preferred is None:
            break
    held = (known for known in listed if known.KIND.hold)
    return next(held, None) or rendered_by(_DEFAULT_TARGET, preferred)


def restarts(kind: str) -> bool:
    """Report whether the controller of *kind* restarts lost replicas, without their state."""
    known = named(kind)
    return known is not None and known.KIND.hold is None


@cache
def every() -> tuple[Workload, ...]:
    """Return all workloads, those of other packages last."""
    loaded = (_load(*name.partition(".")[::2]) for name in _names())
    return tuple(known for known in loaded if known is not None)


def is_workload(manifest: Manifest) -> bool:
    """Report whether *manifest* runs pods."""
    return find(manifest) is not None


def ends(manifest: Manifest) -> bool:
    """Report whether *manifest* runs to completion; then it can be suspended and has a verdict."""
    known = find(manifest)
    return known is not None and known.KIND.hold is not None


def is_owner(manifest: Manifest) -> bool:
    """Report whether *manifest* is the workload that ends its run when it ends."""
    if not ends(manifest) or is_child(manifest):
        return False
    return any(pods.role == _TRAINERS for pods in of(manifest).roles(manifest))


def owner(manifests: Iterable[Manifest]) -> Manifest | None:
    """Return the workload among *manifests* that owns their run."""
    return next((manifest for manifest in manifests if is_owner(manifest)), None)


def roles(manifests: Iterable[Manifest]) -> Iterator[tuple[Manifest, RolePods]]:
    """Yield every role that *manifests* run, with the object that runs it."""
    for manifest in manifests:
        known = find(manifest)
        for pods in known.roles(manifest) if known else ():
            yield manifest, pods


def kinds(manifests: Iterable[Manifest]) -> set[tuple[str, str]]:
    """Return the kinds of the workloads among *manifests*, and of the objects they create."""
    types: set[tuple[str, str]] = set()
    for manifest in manifests:
        if known := find(manifest):
            types |= {known.KIND.type, *known.KIND.creates}
    return types


def pods_of(manifest: Manifest, name: str) -> RolePods | None:
    """Return the pods of the role *name* that *manifest* runs."""
    return next((pods for _, pods in roles([manifest]) if pods.role == name), None)


def runs(manifest: Manifest, name: str) -> bool:
    """Report whether *manifest* runs the role *name*."""
    return pods_of(manifest, name) is not None


def progress(live: Manifest) -> Progress:
    """Return the progress of a workload."""
    return of(live).progress(live)


def state(live: Manifest) -> str:
    """Describe the state of a workload as a verb phrase, for messages."""
    if not ends(live):
        return "is running"
    current = progress(live)
    if current.done:
        return "is complete" if current.ok else current.message
    texts = {"queued": "is waiting in its queue", "suspended": "is suspended"}
    return texts.get(current.message, "is running")


def is_stopped(live: Manifest) -> bool:
    """Report whether the pods of an existing workload are stopped."""
    return of(live).KIND.stop.is_stopped(live)


def children(live: Manifest, others: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects among *others* that the controller of *live* created."""
    uid = live["metadata"].get("uid")
    return [
        other
        for other in others
        if any(
            reference.get("controller") and reference.get("uid") == uid
            for reference in other["metadata"].get("ownerReferences") or ()
        )
    ]


def runner(live: Manifest, name: str, others: Iterable[Manifest]) -> Manifest:
    """Return the object that creates the pods of role *name*: *live* or a child of it."""
    own = (child for child in children(live, others) if role(child) == name)
    return next(own, live)


def rank(manifest: Manifest) -> int:
    """Return the position of an object in the apply order; objects of other packages come last."""
    name = f"{manifest['kind']}.{manifest['apiVersion'].rpartition('/')[0]}"
    return list(_BUILT_IN).index(name) if name in _BUILT_IN else len(_BUILT_IN)


def _names() -> Iterator[str]:
    """Yield every kind with its group; those of other packages come last."""
    yield from _BUILT_IN
    yield from sorted(_installed().names - _BUILT_IN.keys())


@cache
def _load(kind: str, group: str) -> Workload | None:
    """Load the workload of a kind, from another package if the kind is not built in."""
    from importlib import import_module

    name = f"{kind}.{group}"
    if name in _BUILT_IN:
        module: Any = import_module(_BUILT_IN[name])
        return module  # type: ignore[no-any-return]
    if group in _OTHERS or name not in _installed().names:
        return None
    installed: Workload = _installed()[name].load()
    return installed


@cache
def _installed() -> EntryPoints:
    """Return the workloads of other packages."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)
