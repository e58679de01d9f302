"""What the history of a job has to say once it is known what is there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from paddlespec.backend import JobFailed, OperationFailed, Progress
from paddlespec.cluster import readiness
from paddlespec.cluster.inventory import Inventory, now
from paddlespec.cluster.wanted import fingerprint_of, is_owner
from paddlespec.history import History, Provenance, RunRecord, State
from paddlespec.lifecycle import said
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from paddlespec.backend import Run
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest


def settled(history: History, live: Manifest | None) -> History:
    """
    *history* with what the trainers' Job *live*, or its absence, says about the last run.

    A Job that no run knows is that of an intent whose writer died before it could say so, or was
    made before there was a history.
    """
    last = history.ran
    if live is None or (readiness.is_going(live) and not _knows(history, live)):
        if last is None or last.uid is None:
            return history
        # What is to come was written down beside a run that was there: it made room.
        made_room = history.latest is not last
        return history.end(last.uid, State.replaced if made_room else State.lost, now())
    uid = live["metadata"]["uid"]
    if not _knows(history, live):
        history = _found(history, live)
    outcome = readiness.job(live)
    if not outcome.done:
        return history
    return history.end(uid, State.succeeded if outcome.ok else State.failed, ended(live))


def outcome(run: Run) -> Progress:
    """How a run ended of which nothing is left."""
    if run.ended is State.succeeded:
        return Progress(True, True, "complete")
    told = f"{run.work.name} {said(run.ended)}"
    if run.ended is State.failed:
        raise JobFailed(told)
    raise OperationFailed(told, "to run it again: paddlespec apply --rerun")


def record_end(client: Client, run: Run, state: State) -> None:
    """Write down how a run ended; should that fail, the next apply does it."""
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
    """When the Job of *run* ended, if it did by itself and is there still."""
    owner = next((each for each in run.work.manifests if is_owner(each)), None)
    live = client.get(identity(owner)._replace(namespace=run.namespace)) if owner else None
    if live is None or live["metadata"]["uid"] != run.uid or not readiness.job(live).done:
        return None
    return ended(live)


def ended(live: Manifest) -> str:
    """When a Job was over."""
    status = live.get("status") or {}
    listed = status.get("conditions") or ()
    times = [each.get("lastTransitionTime") for each in listed if each.get("type") == "Failed"]
    found = status.get("completionTime") or next((each for each in times if each), None)
    return str(found or now())


def _knows(history: History, live: Manifest) -> bool:
    return any(each.uid == live["metadata"]["uid"] for each in history.runs)


def _found(history: History, live: Manifest) -> History:
    uid, at = live["metadata"]["uid"], live["metadata"]["creationTimestamp"]
    intent = history.latest
    if intent is not None and intent.uid is None and intent.fingerprint == fingerprint_of(live):
        return history.begin(uid, at)
    found = RunRecord(
        0, State.running, Provenance("unknown"), fingerprint_of(live), uid=uid, started=at
    )
    return history.adopt(found)
