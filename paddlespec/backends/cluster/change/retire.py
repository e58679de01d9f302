"""
Jobs whose spec files no longer exist: what they consist of, and how to delete them.

The inventory of a job records where its spec was. Running jobs are kept: deleting a spec file is
not consent to stop its run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.change import prune
from paddlespec.backends.cluster.change.desired import essence
from paddlespec.backends.cluster.change.history_sync import settled
from paddlespec.backends.cluster.change.inventory import (
    INVENTORY_LABEL,
    PROJECT_LABEL,
    SOURCE,
    Inventory,
    now,
)
from paddlespec.backends.cluster.change.lock import Lock
from paddlespec.change.diff import Change, Row
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import State
from paddlespec.runs.values import Compared, Event, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client


class Recorded(NamedTuple):
    """A job of a project, and the path of its spec relative to the project file."""

    name: str
    source: str


def recorded(client: Client, project: str) -> list[Recorded]:
    """Return the jobs of *project* whose inventories record where their specs were."""
    selector = f"{PROJECT_LABEL}={project},{INVENTORY_LABEL}"
    inventories = client.find("v1", "ConfigMap", client.namespace, selector)
    listed = (
        (
            inventory["metadata"]["labels"][INVENTORY_LABEL],
            inventory["metadata"].get("annotations") or {},
        )
        for inventory in inventories
    )
    return [Recorded(name, known[SOURCE]) for name, known in listed if SOURCE in known]


def compare(client: Client, job: Recorded) -> Compared:
    """Return what `retire` would delete, and why it would refuse to."""
    inventory = Inventory(client, client.namespace, job.name)
    inventory.read()
    left = prune.everything(client, client.namespace, job.name, inventory.live)
    refusal = _refusal(job, left)
    rows = [Row(Change(essence(live), None)) for live in left.objects]
    if refusal is None:
        return Compared(rows)
    kept = [Row(Change(manifest, manifest)) for manifest in map(essence, left.objects)]
    problem = f"{refusal.message}; {refusal.hint}"
    return Compared([kept[0]._replace(problem=problem), *kept[1:]], refusal=problem)


def retire(
    client: Client,
    job: Recorded,
    mode: Mode,
    report: Callable[[Event], None],
    *,
    force_unlock: bool = False,
) -> None:
    """Delete what is left of a finished job, except its history and claims."""
    if mode is not Mode.none:
        _retire(client, job, mode, report)
        return
    inventory = Inventory(client, client.namespace, job.name)
    inventory.read()
    left = prune.everything(client, client.namespace, job.name, inventory.live)
    if not left.objects:
        return
    with Lock(client, client.namespace, job.name, report, force=force_unlock):
        _retire(client, job, mode, report)


def _retire(client: Client, job: Recorded, mode: Mode, report: Callable[[Event], None]) -> None:
    inventory = Inventory(client, client.namespace, job.name)
    inventory.read()
    left = prune.everything(client, client.namespace, job.name, inventory.live)
    if not left.objects:
        return
    if refusal := _refusal(job, left):
        raise refusal
    owner = workloads.owner(left.objects)
    if owner is not None and mode is Mode.none and inventory.live is not None:
        uid = owner["metadata"]["uid"]
        # A run that never started counts as killed; the end of any other run is recorded.
        inventory.write(lambda history: settled(history, owner).end(uid, State.killed, now()))
    prune.delete(client, left, mode, report)
    count = f"{len(left.objects)} objects {'' if mode is Mode.none else 'would be '}deleted"
    report(
        Event(f"{job.name}: its spec {job.source} no longer exists: {count}; its history is kept")
    )


def _refusal(job: Recorded, left: prune.Left) -> OperationFailed | None:
    workload = prune.running(left, None)
    if workload is None:
        return None
    return OperationFailed(
        f"its spec {job.source} no longer exists, but {identity(workload)} {workloads.state(workload)}; it is kept",
        f"to stop it: paddlespec kill {job.name}",
    )
