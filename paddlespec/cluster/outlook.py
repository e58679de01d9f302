"""
What an apply would do to a job: the comparison of its objects in the light of its history.

The decision is the one that the apply takes, so that nothing is shown that would not happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import plan
from paddlespec.backend import Compared, OperationFailed
from paddlespec.cluster import readiness, replace
from paddlespec.cluster.compare import Comparing
from paddlespec.cluster.inventory import Inventory
from paddlespec.cluster.judge import judge
from paddlespec.cluster.own import own
from paddlespec.cluster.past import settled
from paddlespec.cluster.prune import refusal
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import belongs_to, fingerprint_of, namespace_of, wanted
from paddlespec.diff import Change, Comparison, Effect, Operation, Row
from paddlespec.history import History
from paddlespec.lifecycle import Decision, Step
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from paddlespec.backend import Consent, Work
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest

_NEW_UID = "known after apply"


def outlook(client: Client, work: Work, consent: Consent) -> Compared:
    """Every object as it is and as an apply would make it, and whether it would."""
    inventory, history, notes = _inventory(client, work)
    comparing = Comparing(client, work, inventory)
    rows = comparing.rows(prune=consent.prune)
    owner = comparing.owner
    if owner is None:
        return _refused(Compared(rows), comparing, None, consent)
    target = identity(owner)._replace(namespace=comparing.namespace)
    live = comparing.live.get(target)
    if target in comparing.refusals or (live is not None and belongs_to(live) != work.name):
        return Compared(rows)
    history = settled(history, live)
    if live is not None and readiness.is_going(live):
        live = None
    stuck = any(row.change.operation is Operation.replace for row in rows)
    try:
        decision = judge(work, history, live, consent, lambda: stuck)
    except OperationFailed as error:
        hint = f"; {error.hint}" if error.hint else ""
        return Compared(rows, notes, f"{error.message}{hint}", _basis(comparing, history))
    if decision.why:
        notes = (*notes, decision.why)
    rows, left = _decided(comparing, rows, decision, live)
    if left:
        notes = (*notes, f"left as they are: {', '.join(left)}: the spec says the same of the pods")
    found = Compared(rows, notes, None, _basis(comparing, history, decision.step))
    if decision.step is Step.replace:
        return found
    return _refused(found, comparing, live, consent)


def check_approval(client: Client, work: Work, consent: Consent) -> None:
    """Refuse to do other things than a plan approved, if there is one."""
    if consent.approved is None:
        return
    namespace = namespace_of(client, work)
    comparison = Comparison(work.name, namespace, "", *outlook(client, work, consent))
    told = list(plan.moved(consent.approved, plan.of(comparison)))
    if told or comparison.refusal:
        raise OperationFailed(
            f"the plan is stale: {'; '.join([*told, *filter(None, [comparison.refusal])])}",
            "look at it again: paddlespec diff PATH... --out FILE",
        )


def _basis(comparing: Comparing, history: History, step: Step | None = None) -> dict[str, Any]:
    """What an approval of this rests on; whether a run is over by now is not part of it."""
    last = history.ran
    objects = {
        str(target): {
            "uid": live["metadata"]["uid"],
            "generation": live["metadata"].get("generation"),
        }
        for target, live in comparing.live.items()
        if live is not None
    }
    return {
        "step": step.value if step in (Step.create, Step.replace) else None,
        "run": f"{last.number} ({last.uid})" if last is not None else None,
        "objects": objects,
        "server": comparing.client.host,
    }


def _refused(
    found: Compared, comparing: Comparing, live: Manifest | None, consent: Consent
) -> Compared:
    """*found*, with the refusal to delete what nobody agreed to."""
    error = refusal(comparing.left, live, consent)
    return found if error is None else found._replace(refusal=f"{error.message}; {error.hint}")


def _inventory(client: Client, work: Work) -> tuple[Manifest | None, History, tuple[str, ...]]:
    inventory = Inventory(client, namespace_of(client, work), work.name)
    try:
        history = inventory.read()
    except Refused as error:
        if error.refusal.status != 403:
            raise
        return None, History(), (f"{error.message}: what ran before is not known",)
    return inventory.live, history, ()


def _decided(
    comparing: Comparing, rows: list[Row], decision: Decision, live: Manifest | None
) -> tuple[list[Row], list[str]]:
    """The rows as the decision leaves them, and the objects that stay although they differ."""
    if decision.step is Step.create:
        return rows, []
    if decision.step is Step.replace:
        return [_anew(comparing, row) for row in rows], []
    if live is None:
        return [row for row in rows if row.change.after is None], []
    if decision.step is Step.nothing:
        over = readiness.job(live).done
        rows = [
            row
            if row.change.after is None or (over and row.change.identity == identity(live))
            else _kept(row)
            for row in rows
            if row.change.before is not None or row.problem
        ]
    if replace.is_changed(live, comparing.work) is not False:
        return rows, []
    left = [row for row in rows if _cannot_change(row)]
    kept = [_kept(row) if row in left else row for row in rows]
    return kept, [str(row.change.identity) for row in left]


def _cannot_change(row: Row) -> bool:
    """Whether an object that is there would have to be suspended, or another one."""
    before = row.change.before
    held = before is not None and (before.get("spec") or {}).get("suspend")
    needs = {each.effect for each in row.change.fields}
    return Effect.replacement in needs or (Effect.suspended in needs and not held)


def _kept(row: Row) -> Row:
    """An object that stays as it is."""
    before = row.change.before
    return row._replace(change=Change(before, before)) if before is not None else row


def _anew(comparing: Comparing, row: Row) -> Row:
    """An object that goes with an earlier run and comes again: it is another one then."""
    before, after = row.change.before, row.change.after
    # Fields that others have set go with the object.
    stays = row.problem is not None and row.change.identity not in comparing.conflicts
    if before is None or after is None or stays or after["kind"] == "PersistentVolumeClaim":
        return row
    live = comparing.live.get(identity(after))
    manifest = comparing.rendered(identity(after))
    if live is None or manifest is None:
        return row
    owners = live["metadata"].get("ownerReferences") or [None]
    sent = wanted(manifest, None, comparing.namespace, owners[0], fingerprint_of(live))
    return Row(Change(_marked(own(live, sent), live["metadata"]["uid"]), _marked(sent, _NEW_UID)))


def _marked(manifest: Manifest, uid: str) -> Manifest:
    found: dict[str, Any] = {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}
    if isinstance(found.get("spec"), dict):
        found["spec"] = {key: each for key, each in found["spec"].items() if key != "suspend"}
    return found
