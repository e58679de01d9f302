"""The end of a job: every object that carries its label, and the wait for its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import Contents, Event, NotFound, Progress
from paddlespec.cluster import readiness
from paddlespec.cluster.kinds import MANAGED, POD_GROUP
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import is_owner
from paddlespec.diagnostic import did_you_mean
from paddlespec.manifest import JOB_LABEL, identity, role

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest

_CLAIM = ("v1", "PersistentVolumeClaim")


def contents(client: Client, name: str, *, claims: bool = False) -> Contents:
    """What there is of the job *name*."""
    found = _objects(client, name, claims=claims)
    pods = client.find("v1", "Pod", client.namespace, f"{JOB_LABEL}={name}")
    if not found and not pods:
        raise _unknown(client, name)
    replicas: dict[str, int] = {}
    for each in pods:
        if not readiness.pod(each).message.startswith("ended"):
            own = role(each) or "pods"
            replicas[own] = replicas.get(own, 0) + 1
    started = [(each.get("status") or {}).get("startTime") for each in found if is_owner(each)]
    return Contents(len(found), replicas, next((each for each in started if each), None))


def remove(
    client: Client, name: str, tell: Callable[[Event], None], *, claims: bool = False
) -> None:
    """Delete exactly the objects that are there now; what they own goes with them."""
    for each in _objects(client, name, claims=claims):
        client.delete(identity(each), each["metadata"]["uid"])
        tell(Event("deleted", str(identity(each))))


def remaining(client: Client, name: str, *, claims: bool = False) -> Progress:
    """What is left: pods of every role count, for they would answer under a new run's names."""
    pods = client.find("v1", "Pod", client.namespace, f"{JOB_LABEL}={name}")
    if pods:
        return Progress(False, True, f"waiting for {len(pods)} pods to end")
    left = _objects(client, name, claims=claims)
    if left:
        return Progress(False, True, f"waiting for {identity(left[0])} to go")
    return Progress(True, True, "nothing is left")


def _objects(client: Client, name: str, *, claims: bool) -> list[Manifest]:
    """The objects of a job, the trainers' Job first: what it owns needs no request of its own."""
    kinds = [*MANAGED, *([_CLAIM] if claims else [])]
    if client.serves(*POD_GROUP):
        kinds.append(POD_GROUP)
    found = [
        each
        for version, kind in kinds
        for each in client.find(version, kind, client.namespace, f"{JOB_LABEL}={name}")
    ]
    return sorted(found, key=lambda each: not is_owner(each))


def _unknown(client: Client, name: str) -> NotFound:
    """The refusal for a name that nothing carries, with the name that was meant."""
    try:
        jobs = client.find("batch/v1", "Job", client.namespace, JOB_LABEL)
    except Refused:
        jobs = []
    known = {each["metadata"]["labels"][JOB_LABEL] for each in jobs}
    hint = did_you_mean(name, sorted(known))
    return NotFound(f"there is no job {name} in namespace {client.namespace}", hint)
