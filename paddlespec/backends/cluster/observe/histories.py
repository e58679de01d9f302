"""
Read the histories stored on a cluster and update them from the live objects; nothing is written.

A run that ended unobserved is shown as ended; the next apply records that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.change.desired import belongs_to
from paddlespec.backends.cluster.change.history_sync import settled
from paddlespec.backends.cluster.change.inventory import (
    INVENTORY_LABEL,
    Inventory,
    history_of,
    unknown,
)
from paddlespec.backends.cluster.observe import members
from paddlespec.render.manifest import JOB_LABEL
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import History, Recorded, State

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

    Unread = tuple[str, OperationFailed]


def record(client: Client, name: str) -> Recorded:
    """Return the history of one job; raises `NotFound`."""
    inventory = Inventory(client, client.namespace, name)
    history = inventory.read()
    if inventory.live is None:
        raise unknown(client, name)
    listed = members.find(client, client.namespace, f"{JOB_LABEL}={name}")
    owner = workloads.owner(listed.workloads)
    if owner is None:
        listed.check(inventory.live)
    return Recorded(client.namespace, name, seen(history, owner))


def records(client: Client, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
    """Return all histories, of one namespace or of all, and those that cannot be read."""
    space = "" if everywhere else client.namespace
    listed = members.find(client, space, JOB_LABEL, [(members.INVENTORY, INVENTORY_LABEL)])
    owners = {
        (live["metadata"]["namespace"], belongs_to(live)): live
        for live in filter(workloads.is_owner, listed.workloads)
    }
    readable, failures = [], []
    for inventory in listed.objects[members.INVENTORY]:
        metadata = inventory["metadata"]
        key = metadata["namespace"], metadata["labels"][INVENTORY_LABEL]
        try:
            if key not in owners:
                listed.check(inventory)
            readable.append(Recorded(*key, seen(history_of(inventory), owners.get(key))))
        except OperationFailed as error:
            failures.append((key[1], error))
    return sorted(readable, key=lambda recorded: recorded[:2]), failures


def seen(history: History, owner: Manifest | None) -> History:
    """Return *history* as of now; the end time of a lost run is unknown."""
    known = {run.uid for run in history.runs if run.is_over}
    return History(
        tuple(
            run._replace(finished=None) if run.state is State.lost and run.uid not in known else run
            for run in settled(history, owner).runs
        )
    )
