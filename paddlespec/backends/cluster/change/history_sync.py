"""Bring the history of a job up to date with the cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.change.desired import fingerprint_of
from paddlespec.backends.cluster.change.inventory import Inventory, now
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import JobFailed, OperationFailed
from paddlespec.runs.history import (
    History,
    Provenance,
    RunRecord,
    State,
)
from paddlespec.runs.outcome import ending
from paddlespec.runs.values import Progress

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Run


def settled(history: History, live: Manifest | None) -> History:
    """
    Update *history* from the trainers' Job *live*, or from its absence.

    A Job without a record belongs to an intent whose writer died before it recorded the UID, or is
    older than the history.
    """
    last = history.ran
    if live is None or (workloads.is_going(live) and not _knows(history, live)):
        if last is None or last.uid is None:
            return history
        # An intent recorded while a run existed means that the run was replaced.
        made_room = history.latest is not last
        return history.end(last.uid, State.replaced if made_room else State.lost, now())
    uid = live["metadata"]["uid"]
    if not _knows(history, live):
        history = _recorded(history, live)
    progress = workloads.progress(live)
    if not progress.done:
        return history
    return history.end(uid, State.succeeded if progress.ok else State.failed, ended(live))


def outcome(run: Run) -> Progress:
    """Report how a run ended that no longer exists; raises unless it succeeded."""
    if run.ended is State.succeeded:
        return Progress(True, True, "complete")
    message = f"{run.work.name} {ending(run.ended)}"
    if run.ended is State.failed:
        raise JobFailed(message)
    raise OperationFailed(message, "apply with --rerun to run it again")


def record_end(client: Client, run: Run, state: State) -> None:
    """Record how a run ended; if that fails, the next apply does it."""
    if run.uid is None:
        return
    uid = run.uid
    inventory = Inventory(client, run.namespace, run.work.name)
    with suppress(OperationFailed):
        inventory.read()
        if inventory.live is not None:
            moment = _ended(client, run) or now()
            inventory.write(lambda history: history.end(uid, state, moment))


def _ended(client: Client, run: Run) -> str | None:
    """Return when the owner of *run* ended, if it ended on its own and still exists."""
    owner = workloads.owner(run.work.manifests)
    live = client.get(identity(owner)._replace(namespace=run.namespace)) if owner else None
    if live is None or live["metadata"]["uid"] != run.uid or not workloads.progress(live).done:
        return None
    return ended(live)


def ended(live: Manifest) -> str:
    """Return when a workload ended."""
    return workloads.of(live).finished(live) or now()


def _knows(history: History, live: Manifest) -> bool:
    return any(run.uid == live["metadata"]["uid"] for run in history.runs)


def _recorded(history: History, live: Manifest) -> History:
    """Add an existing Job that has no record."""
    uid, at = live["metadata"]["uid"], live["metadata"]["creationTimestamp"]
    intent = history.latest
    if intent is not None and intent.uid is None and intent.fingerprint == fingerprint_of(live):
        return history.begin(uid, at)
    unknown = Provenance("unknown")
    run = RunRecord(0, State.running, unknown, fingerprint_of(live), uid=uid, started=at)
    return history.adopt(run)
