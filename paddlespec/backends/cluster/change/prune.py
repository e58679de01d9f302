"""
What there is of a job that its spec no longer renders.

A comparison shows and an apply deletes what one and the same search finds. Found is what bears the
label of the set; ours is only what we applied: labels can be copied, the account that the API server
keeps of who set which field cannot.
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
    What is rendered no more: objects that go, the owner of the run first, and claims, which stay.

    `used`: code that something still refers to; it stays until nothing does.
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
    What the cluster has of *job* beside what is *rendered*; *known* is its inventory, if any.

    Raises `OperationFailed` where nothing is rendered at all: that is no job, and no reason to
    delete one.
    """
    if not rendered:
        raise OperationFailed(
            f"nothing is rendered of {job}: nothing is applied, and nothing is deleted",
            f"to end the job: paddlespec delete {job}",
        )
    return everything(client, namespace, job, known, rendered)


def everything(
    client: Client,
    namespace: str,
    job: str,
    known: Manifest | None,
    rendered: Sequence[Manifest] = (),
) -> Left:
    """The same where nothing is to be left of a job whose spec is gone."""
    keep = {(each["kind"], each["metadata"]["name"]) for each in rendered}
    keep.add(("ConfigMap", inventory(namespace, job).name))
    selector = f"{MEMBER_LABEL}={set_id(namespace, job)},{JOB_LABEL}={job}"
    found = [
        each
        for version, kind in kinds(client, known)
        for each in client.find(version, kind, namespace, selector)
        if (kind, each["metadata"]["name"]) not in keep
        and not workloads.is_going(each)
        and any(applied_fields(each))
    ]
    claims = [each for each in found if each["kind"] == _CLAIM]
    objects = sorted(
        (each for each in found if each["kind"] != _CLAIM),
        key=lambda each: not workloads.is_owner(each),
    )
    used: list[Manifest] = []
    if any(each["kind"] == "ConfigMap" for each in objects):
        names = _used(client, namespace, objects)
        used = [each for each in objects if _is_one_of(each, names)]
    return Left([each for each in objects if each not in used], claims, used)


def running(left: Left, owner: Manifest | None) -> Manifest | None:
    """What runs of what is left over, if that still is a run."""
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


def delete(client: Client, left: Left, mode: Mode, tell: Callable[[Event], None]) -> None:
    """Delete what is left over, exactly the objects that were found; some may be gone already."""
    for each in left.objects:
        if mode is Mode.none:
            client.delete(identity(each), each["metadata"]["uid"])
            tell(Event("deleted", str(identity(each))))
        else:
            tell(Event("would be deleted (server dry run)", str(identity(each))))
    for each in left.claims:
        tell(Event(f"{identity(each)} is no longer rendered and stays: it holds data"))


def _is_orphan(live: Manifest, owner: Manifest | None) -> bool:
    """Whether an object is about to be collected: it belonged to a run that was ended already."""
    owners = live["metadata"].get("ownerReferences") or ()
    known = owner["metadata"]["uid"] if owner is not None else None
    return bool(owners) and all(each["uid"] != known for each in owners)


def _runs(live: Manifest) -> bool:
    if not workloads.ends(live):
        return not workloads.is_stopped(live)
    if workloads.progress(live).done or is_ours_to_resume(live):
        return False
    return workloads.is_queued(live) or not workloads.is_stopped(live)


def _is_one_of(each: Manifest, names: set[str]) -> bool:
    return each["kind"] == "ConfigMap" and each["metadata"]["name"] in names


def _used(client: Client, namespace: str, gone: Iterable[Manifest]) -> set[str]:
    """
    The ConfigMaps that pods, or the templates of pods, refer to, whosever they are.

    What goes itself is no user; neither are its pods.
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
    for each in live["metadata"].get("ownerReferences") or ():
        yield each["uid"]


def _config_maps(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _config_maps(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("configMap", "configMapRef", "configMapKeyRef") and isinstance(each, dict):
                yield str(each.get("name"))
            else:
                yield from _config_maps(each)
