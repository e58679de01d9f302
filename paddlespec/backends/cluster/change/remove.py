"""
Stop and delete a job: every object with its label; then wait for its pods.

The kill is recorded before anything is deleted, so no apply revives a half-deleted run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.api.kinds import extensions
from paddlespec.backends.cluster.change.history_sync import settled
from paddlespec.backends.cluster.change.inventory import Inventory, now, unknown
from paddlespec.backends.cluster.change.kinds import kinds
from paddlespec.backends.cluster.change.lock import Lock
from paddlespec.render.manifest import JOB_LABEL, identity, role
from paddlespec.runs.failures import NotFound
from paddlespec.runs.history import History, State
from paddlespec.runs.outcome import ending
from paddlespec.runs.values import Contents, Event, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

_CLAIM = ("v1", "PersistentVolumeClaim")


def contents(client: Client, name: str, *, claims: bool = False) -> Contents:
    """Return what the job *name* consists of."""
    inventory = Inventory(client, client.namespace, name)
    history = inventory.read()
    objects = _objects(client, name, inventory.live, claims=claims)
    pods = client.find("v1", "Pod", client.namespace, f"{JOB_LABEL}={name}")
    if not objects and not pods:
        if inventory.live is None and not (claims and Lock.is_left(client, name)):
            raise unknown(client, name)
        if not claims and not _is_to_come(history):
            raise _over(name, history)
    replicas: dict[str, int] = {}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
            name_of_role = role(pod) or "pods"
            replicas[name_of_role] = replicas.get(name_of_role, 0) + 1
    owner = workloads.owner(objects)
    since = workloads.of(owner).started(owner) if owner else None
    return Contents(len(objects), replicas, since)


def remove(
    client: Client,
    name: str,
    report: Callable[[Event], None],
    *,
    claims: bool = False,
    force_unlock: bool = False,
) -> None:
    """
    Delete exactly the objects that exist now; what they own is garbage-collected.

    With *claims*, the history is deleted last.
    """
    with Lock(client, client.namespace, name, report, force=force_unlock):
        inventory = Inventory(client, client.namespace, name)
        inventory.read()
        objects = _objects(client, name, inventory.live, claims=claims)
        owner = workloads.owner(objects)
        if owner is not None:
            inventory.write(lambda history: _killed(settled(history, owner), owner))
        elif not claims and _is_to_come(inventory.history):
            inventory.write(lambda history: history.drop_intent())
        for live in objects:
            client.delete(identity(live), live["metadata"]["uid"])
            report(Event("deleted", str(identity(live))))
        if claims:
            inventory.delete()


def remaining(client: Client, name: str, *, claims: bool = False) -> Progress:
    """Return what is left. Pods of every role count: they would answer under a new run's names."""
    pods = client.find("v1", "Pod", client.namespace, f"{JOB_LABEL}={name}")
    if pods:
        return Progress(False, True, f"waiting for {len(pods)} pods to end")
    left = _objects(client, name, None, claims=claims)
    if left:
        return Progress(False, True, f"waiting for {identity(left[0])} to be deleted")
    return Progress(True, True, "nothing is left")


def _objects(
    client: Client, name: str, inventory: Manifest | None, *, claims: bool
) -> list[Manifest]:
    """
    Return the objects of a job, the run's owner first: deleting it deletes what it owns.

    Objects created by a controller are deleted with the object they were created for.
    """
    served = [kind for kind in extensions() if client.serves(*kind)]
    asked = dict.fromkeys([*kinds(client, inventory), *served])
    asked.pop(_CLAIM, None)
    labelled = [
        live
        for kind in [*asked, *([_CLAIM] if claims else [])]
        for live in client.find(*kind, client.namespace, f"{JOB_LABEL}={name}")
    ]
    own = [live for live in labelled if not workloads.is_child(live)]
    return sorted(own, key=lambda live: not workloads.is_owner(live))


def _is_to_come(history: History) -> bool:
    """Report whether a run was recorded after the last one, so that an apply would continue it."""
    return history.ran is not None and history.ran is not history.latest


def _killed(history: History, owner: Manifest) -> History:
    return history.end(owner["metadata"]["uid"], State.killed, now())


def _over(name: str, history: History) -> NotFound:
    """Return the refusal to stop a job that has ended."""
    last = history.ran
    outcome = f"run {last.number} of {name} {ending(last.state)}" if last else f"{name} never ran"
    return NotFound(
        f"{name} has no objects: {outcome}",
        f"to delete its history too: paddlespec delete {name}",
    )
