"""
The histories that a cluster keeps, brought up to date by what is there. Nothing is written.

A run that ended while nobody looked is shown as it ended; the next apply writes that down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import NotFound, OperationFailed
from paddlespec.cluster.inventory import INVENTORY_LABEL, Inventory, history_of
from paddlespec.cluster.past import settled
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import belongs_to, is_owner
from paddlespec.diagnostic import did_you_mean
from paddlespec.history import History, Recorded, State
from paddlespec.manifest import JOB_LABEL

if TYPE_CHECKING:
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest

    Unread = tuple[str, OperationFailed]


def record(client: Client, name: str) -> Recorded:
    """The history of one job; raises `NotFound`."""
    inventory = Inventory(client, client.namespace, name)
    history = inventory.read()
    if inventory.live is None:
        raise unknown(client, name)
    found = client.find("batch/v1", "Job", client.namespace, f"{JOB_LABEL}={name}")
    owner = next((each for each in found if is_owner(each)), None)
    return Recorded(client.namespace, name, seen(history, owner))


def records(client: Client, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
    """The histories of all jobs, of every namespace or of ours, and what cannot be read of them."""
    space = "" if everywhere else client.namespace
    inventories = client.find("v1", "ConfigMap", space, INVENTORY_LABEL)
    jobs = client.find("batch/v1", "Job", space, JOB_LABEL) if inventories else []
    owners = {
        (each["metadata"]["namespace"], belongs_to(each)): each for each in jobs if is_owner(each)
    }
    found, failures = [], []
    for each in inventories:
        metadata = each["metadata"]
        key = metadata["namespace"], metadata["labels"][INVENTORY_LABEL]
        try:
            found.append(Recorded(*key, seen(history_of(each), owners.get(key))))
        except OperationFailed as error:
            failures.append((key[1], error))
    return sorted(found, key=lambda each: each[:2]), failures


def unknown(client: Client, name: str) -> NotFound:
    """The refusal for a name that nothing carries, with the name that was meant."""
    try:
        found = client.find("v1", "ConfigMap", client.namespace, INVENTORY_LABEL)
    except Refused:
        found = []
    known = {each["metadata"]["labels"][INVENTORY_LABEL] for each in found}
    hint = did_you_mean(name, sorted(known))
    return NotFound(f"there is no job {name} in namespace {client.namespace}", hint)


def seen(history: History, owner: Manifest | None) -> History:
    """*history* as it is now; when a run was lost, nobody saw."""
    known = {each.uid for each in history.runs if each.is_over}
    return History(
        tuple(
            each._replace(finished=None)
            if each.state is State.lost and each.uid not in known
            else each
            for each in settled(history, owner).runs
        )
    )
