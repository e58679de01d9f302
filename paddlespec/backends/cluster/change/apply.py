"""Apply one job: read what exists, decide, and take each step while holding the job's lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.change.desired import namespace_of
from paddlespec.backends.cluster.change.execute import Execution
from paddlespec.backends.cluster.change.inventory import Inventory
from paddlespec.backends.cluster.change.lock import Lock
from paddlespec.backends.cluster.change.parts import unknown_run
from paddlespec.backends.cluster.change.preview import check_approval
from paddlespec.backends.cluster.change.snapshot import Snapshot
from paddlespec.change.decide import decide, kept_note
from paddlespec.runs.values import Event, Mode, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.runs.history import History
    from paddlespec.runs.values import Consent, Work


def apply(
    client: Client, work: Work, mode: Mode, report: Callable[[Event], None], consent: Consent
) -> Run:
    """Make the cluster match *work*; nothing is written unless *mode* is none."""
    refusal = unknown_run(work.manifests)
    if refusal is not None:
        raise refusal
    if mode is not Mode.none:
        return _apply(client, work, mode, report, consent)
    namespace = namespace_of(client, work)
    with Lock(client, namespace, work.name, report, force=consent.force_unlock):
        return _apply(client, work, mode, report, consent)


def _apply(
    client: Client, work: Work, mode: Mode, report: Callable[[Event], None], consent: Consent
) -> Run:
    inventory = Inventory(client, namespace_of(client, work), work.name)
    history = inventory.read()
    snapshot = Snapshot(client, work, inventory.live, asks=mode is not Mode.client)
    history = snapshot.settled(history)
    decision = decide(history, snapshot, work, consent)
    check_approval(snapshot, history, decision, consent)
    if decision.error is not None:
        raise decision.error
    for note in decision.notes:
        report(Event(note))
    execution = Execution(snapshot, inventory, mode, report, force=consent.force_conflicts)
    for step in decision.steps:
        execution.take(step)
    for note in kept_note(execution.kept):
        report(Event(note))
    return _run(snapshot, history, execution)


def _run(snapshot: Snapshot, history: History, execution: Execution) -> Run:
    """Return the current run, or how the last one ended."""
    run = Run(snapshot.work, snapshot.namespace, None, sent=tuple(execution.sent))
    if snapshot.presence is None:
        return run
    if execution.owner is not None:
        return run._replace(uid=execution.owner["metadata"].get("uid"))
    last = history.ran
    if snapshot.uid is not None or last is None:
        return run._replace(uid=snapshot.uid)
    return run._replace(uid=last.uid, ended=last.state)
