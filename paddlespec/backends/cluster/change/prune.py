"""
Objects of a job that its spec no longer renders.

`diff` shows and `apply` deletes the results of the same search. An object must carry the label of
the set and have fields that we applied: labels can be copied, but the API server's record of who
set which field cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.kinds import is_built_in
from paddlespec.backends.cluster.change.applyset import MEMBER_LABEL, inventory, set_id
from paddlespec.backends.cluster.change.desired import applied_fields, is_ours_to_resume
from paddlespec.backends.cluster.change.kinds import kinds
from paddlespec.render.manifest import JOB_LABEL, identity
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.values import Event, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

_CLAIM = "PersistentVolumeClaim"


class Left(NamedTuple):
    """
    Objects that are no longer rendered: those to delete, the run's owner first, and kept claims.

    `used`: ConfigMaps that something still refers to; they are kept until nothing does.
    """

    objects: Sequence[Manifest] = ()
    claims: Sequence[Manifest] = ()
    used: Sequence[Manifest] = ()


def left_over(
    client: Client,
    namespace: str,
    job: str,
    rendered: Sequence[Manifest],
    known: Manifest | None,
) -> Left:
    """
    Return the objects of *job* that are not *rendered*; *known* is its inventory, if any.

    Raises `OperationFailed` if nothing is rendered: an empty job is no reason to delete one.
    """
    if not rendered:
        raise OperationFailed(
            f"{job} renders no objects; nothing was applied or deleted",
            f"to delete the job: paddlespec delete {job}",
        )
    return everything(client, namespace, job, known, rendered)


def everything(
    client: Client,
    namespace: str,
    job: str,
    known: Manifest | None,
    rendered: Sequence[Manifest] = (),
) -> Left:
    """Return the same for a job whose spec no longer exists, so nothing is *rendered*."""
    keep = {(manifest["kind"], manifest["metadata"]["name"]) for manifest in rendered}
    keep.add(("ConfigMap", inventory(namespace, job).name))
    selector = f"{MEMBER_LABEL}={set_id(namespace, job)},{JOB_LABEL}={job}"
    members = [
        live
        for version, kind in kinds(client, known)
        for live in client.find(version, kind, namespace, selector)
        if (kind, live["metadata"]["name"]) not in keep
        and not workloads.is_going(live)
        and any(applied_fields(live))
    ]
    claims = [live for live in members if live["kind"] == _CLAIM]
    objects = sorted(
        (live for live in members if live["kind"] != _CLAIM),
        key=lambda live: not workloads.is_owner(live),
    )
    used: list[Manifest] = []
    if any(live["kind"] == "ConfigMap" for live in objects):
        names = _used(client, namespace, objects)
        used = [live for live in objects if _is_one_of(live, names)]
    return Left([live for live in objects if live not in used], claims, used)


def running(left: Left, owner: Manifest | None) -> Manifest | None:
    """Return a leftover object that still runs, unless its run has ended."""
    owner = workloads.owner(left.objects) or owner
    if owner is not None and workloads.progress(owner).done:
        return None
    return next(
        (
            live
            for live in left.objects
            if workloads.is_workload(live) and _runs(live) and not _is_orphan(live, owner)
        ),
        None,
    )


def delete(client: Client, left: Left, mode: Mode, report: Callable[[Event], None]) -> None:
    """Delete exactly the leftover objects that were read, if they still exist."""
    for live in left.objects:
        if mode is Mode.none:
            client.delete(identity(live), live["metadata"]["uid"])
            report(Event("deleted", str(identity(live))))
        else:
            report(Event("would be deleted (server dry run)", str(identity(live))))
    for live in left.claims:
        report(Event(f"{identity(live)} is no longer rendered but kept, because it holds data"))


def _is_orphan(live: Manifest, owner: Manifest | None) -> bool:
    """Report whether an object is about to be garbage-collected, because its run has ended."""
    owners = live["metadata"].get("ownerReferences") or ()
    known = owner["metadata"]["uid"] if owner is not None else None
    return bool(owners) and all(reference["uid"] != known for reference in owners)


def _runs(live: Manifest) -> bool:
    if not workloads.ends(live):
        return not workloads.is_stopped(live)
    if workloads.progress(live).done or is_ours_to_resume(live):
        return False
    return workloads.is_queued(live) or not workloads.is_stopped(live)


def _is_one_of(live: Manifest, names: set[str]) -> bool:
    return live["kind"] == "ConfigMap" and live["metadata"]["name"] in names


def _used(client: Client, namespace: str, gone: Iterable[Manifest]) -> set[str]:
    """
    Return the names of ConfigMaps that pods or pod templates refer to, including those of other owners.

    Objects that are deleted themselves, and their pods, do not count.
    """
    users = [("v1", "Pod")]
    for kind in (known.KIND.type for known in workloads.every()):
        if is_built_in(*kind) or client.serves(*kind):
            users.append(kind)
    going = {live["metadata"]["uid"] for live in gone}
    return {
        name
        for version, kind in users
        for live in client.find(version, kind, namespace)
        if going.isdisjoint(_uids(live))
        for name in _config_maps(live.get("spec"))
    }


def _uids(live: Manifest) -> Iterator[str]:
    yield live["metadata"]["uid"]
    for reference in live["metadata"].get("ownerReferences") or ():
        yield reference["uid"]


def _config_maps(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _config_maps(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("configMap", "configMapRef", "configMapKeyRef") and isinstance(item, dict):
                yield str(item.get("name"))
            else:
                yield from _config_maps(item)
