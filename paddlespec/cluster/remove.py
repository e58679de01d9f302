"""
The end of a job: every object that carries its label, and the wait for its pods.

That it was killed is recorded before anything goes, so that no apply revives what is half gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import Contents, Event, NotFound, Progress
from paddlespec.cluster import readiness
from paddlespec.cluster.inventory import Inventory, now
from paddlespec.cluster.kinds import MANAGED, POD_GROUP
from paddlespec.cluster.lock import Lock
from paddlespec.cluster.past import settled
from paddlespec.cluster.records import unknown
from paddlespec.cluster.wanted import is_owner
from paddlespec.history import History, State
from paddlespec.lifecycle import said
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
        inventory = Inventory(client, client.namespace, name)
        history = inventory.read()
        if inventory.live is None and not (claims and Lock.is_left(client, name)):
            raise unknown(client, name)
        if not claims and not _is_to_come(history):
            raise _over(name, history)
    replicas: dict[str, int] = {}
    for each in pods:
        if not readiness.pod(each).message.startswith("ended"):
            own = role(each) or "pods"
            replicas[own] = replicas.get(own, 0) + 1
    started = [(each.get("status") or {}).get("startTime") for each in found if is_owner(each)]
    return Contents(len(found), replicas, next((each for each in started if each), None))


def remove(
    client: Client,
    name: str,
    tell: Callable[[Event], None],
    *,
    claims: bool = False,
    force_unlock: bool = False,
) -> None:
    """
    Delete exactly the objects that are there now; what they own goes with them.

    With the claims goes the history, last.
    """
    with Lock(client, client.namespace, name, tell, force=force_unlock):
        inventory = Inventory(client, client.namespace, name)
        inventory.read()
        found = _objects(client, name, claims=claims)
        owner = next((each for each in found if is_owner(each)), None)
        if owner is not None:
            inventory.write(lambda history: _killed(settled(history, owner), owner))
        elif not claims and _is_to_come(inventory.history):
            inventory.write(lambda history: history.drop_intent())
        for each in found:
            client.delete(identity(each), each["metadata"]["uid"])
            tell(Event("deleted", str(identity(each))))
        if claims:
            inventory.delete()


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


def _is_to_come(history: History) -> bool:
    """Whether a run after the last one was agreed to, and an apply would go on with it."""
    return history.ran is not None and history.ran is not history.latest


def _killed(history: History, owner: Manifest) -> History:
    return history.end(owner["metadata"]["uid"], State.killed, now())


def _over(name: str, history: History) -> NotFound:
    """The refusal to end what has ended."""
    last = history.ran
    told = f"run {last.number} of {name} {said(last.state)}" if last else f"{name} never ran"
    return NotFound(
        f"nothing is left of {name}: {told}",
        f"to forget its history too: paddlespec delete {name}",
    )
