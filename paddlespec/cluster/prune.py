"""
What there is of a job that its spec no longer renders.

A comparison shows and an apply deletes what one and the same search finds. Found is what bears the
label of the set; ours is only what we applied: labels can be copied, the account that the API server
keeps of who set which field cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import Event, Mode, OperationFailed
from paddlespec.cluster import readiness
from paddlespec.cluster.applyset import GROUP_KINDS, MEMBER_LABEL, inventory, set_id
from paddlespec.cluster.kinds import MANAGED, POD_GROUP, is_built_in, version_of
from paddlespec.cluster.parts import has_pods
from paddlespec.cluster.wanted import (
    applied_fields,
    is_job,
    is_ours_to_resume,
    is_owner,
    is_queued,
)
from paddlespec.manifest import JOB_LABEL, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddlespec.backend import Consent
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest

_CLAIM = "PersistentVolumeClaim"


class Left(NamedTuple):
    """
    What is rendered no more: objects that go, the trainers' Job first, and claims, which stay.

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
        for version, kind in _kinds(client, known)
        for each in client.find(version, kind, namespace, selector)
        if (kind, each["metadata"]["name"]) not in keep
        and not readiness.is_going(each)
        and any(applied_fields(each))
    ]
    claims = [each for each in found if each["kind"] == _CLAIM]
    objects = sorted(
        (each for each in found if each["kind"] != _CLAIM), key=lambda each: not is_owner(each)
    )
    used: list[Manifest] = []
    if any(each["kind"] == "ConfigMap" for each in objects):
        names = _used(client, namespace, objects)
        used = [each for each in objects if _is_one_of(each, names)]
    return Left([each for each in objects if each not in used], claims, used)


def refusal(left: Left, owner: Manifest | None, consent: Consent) -> OperationFailed | None:
    """
    Why what is left over may not be deleted: it is a run, or what remains of one, and nobody agreed.

    *owner* is the live trainers' Job that stays; once it is done, nothing of its run is lost.
    """
    workload = running(left, owner)
    if workload is not None:
        if consent.replace or consent.policy == "replace-running":
            return None
        return OperationFailed(
            f"{identity(workload)}, which {_state(workload)}: it is rendered no more, so that it "
            f"has to be deleted, and whenChanged is {consent.policy}",
            "to end it: paddlespec apply --replace; to leave it: --no-prune",
        )
    over = next((each for each in left.objects if is_owner(each)), None)
    if over is not None and consent.policy == "refuse" and not consent.replace:
        return OperationFailed(
            f"{identity(over)}, which {_state(over)}: it is rendered no more, so that it has to be "
            "deleted, and whenChanged is refuse",
            "to delete it: paddlespec apply --replace; to leave it: --no-prune",
        )
    return None


def running(left: Left, owner: Manifest | None) -> Manifest | None:
    """What runs of what is left over, if that still is a run."""
    owner = next((each for each in left.objects if is_owner(each)), owner)
    if owner is not None and readiness.job(owner).done:
        return None
    return next(
        (
            each
            for each in left.objects
            if has_pods(each) and _runs(each) and not _is_orphan(each, owner)
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
        tell(Event(f"{identity(each)} is rendered no more, and stays: it holds data"))


def _kinds(client: Client, known: Manifest | None) -> list[tuple[str, str]]:
    """The kinds that a job can have objects of: those that its inventory lists, and the usual."""
    listed = ((known or {}).get("metadata", {}).get("annotations") or {}).get(GROUP_KINDS, "")
    found = dict.fromkeys(MANAGED)
    for each in filter(None, listed.split(",")):
        kind, _, group = each.partition(".")
        version = version_of(group, kind) or client.preferred(group)
        if version is not None and (is_built_in(version, kind) or client.serves(version, kind)):
            found[version, kind] = None
    if known is None and client.serves(*POD_GROUP):
        found[POD_GROUP] = None
    return list(found)


def _is_orphan(live: Manifest, owner: Manifest | None) -> bool:
    """Whether an object is about to be collected: it belonged to a run that was ended already."""
    owners = live["metadata"].get("ownerReferences") or ()
    known = owner["metadata"]["uid"] if owner is not None else None
    return bool(owners) and all(each["uid"] != known for each in owners)


def _runs(live: Manifest) -> bool:
    if not is_job(live):
        return bool((live.get("spec") or {}).get("replicas", 1))
    if readiness.job(live).done or is_ours_to_resume(live):
        return False
    return is_queued(live) or not live["spec"].get("suspend")


def _state(live: Manifest) -> str:
    return readiness.state(live) if is_job(live) else "is running"


def _is_one_of(each: Manifest, names: set[str]) -> bool:
    return each["kind"] == "ConfigMap" and each["metadata"]["name"] in names


def _used(client: Client, namespace: str, gone: Iterable[Manifest]) -> set[str]:
    """
    The ConfigMaps that pods, or the templates of pods, refer to, whosever they are.

    What goes itself is no user; neither are its pods.
    """
    kinds = (("v1", "Pod"), ("batch/v1", "Job"), ("apps/v1", "StatefulSet"))
    going = {each["metadata"]["uid"] for each in gone}
    return {
        name
        for version, kind in kinds
        for each in client.find(version, kind, namespace)
        if going.isdisjoint(_uids(each))
        for name in _config_maps(each["spec"])
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
