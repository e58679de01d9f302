"""
Preview the steps of an apply: each object before and after its step.

The server performs a dry run of exactly what an apply sends, so defaults, webhooks and other
writers are included. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change import trial
from paddlespec.backends.cluster.change.conflicts import explained
from paddlespec.backends.cluster.change.desired import (
    belongs_to,
    desired_object,
    essence,
    fingerprint_of,
    is_adopted,
    is_ours_to_resume,
    namespace_of,
    registered,
    resumed,
    taken_over,
    without,
)
from paddlespec.backends.cluster.change.inventory import Inventory
from paddlespec.backends.cluster.change.managed_fields import own
from paddlespec.backends.cluster.change.parts import has_pods, unknown_run
from paddlespec.backends.cluster.change.snapshot import Snapshot
from paddlespec.change import plan
from paddlespec.change.decide import decide, kept_note
from paddlespec.change.diff import Change, Comparison, Effect, Row, recreated
from paddlespec.change.steps import (
    Create,
    Delete,
    Keep,
    Refuse,
    RefuseToPrune,
    Replace,
    Try,
    Update,
    in_order_of,
)
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import History
from paddlespec.runs.values import Compared

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.change.conflicts import Answer
    from paddlespec.change.steps import Decision, ObjectStep
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Consent, Event, Work

_TRIES = 3
_ADOPTED = "its objects were applied by another tool; an apply adopts them as they are"


def outlook(client: Client, work: Work, consent: Consent) -> Compared:
    """Return every object before and after an apply, and the refusal that would prevent it."""
    inventory = Inventory(client, namespace_of(client, work), work.name)
    notes: tuple[str, ...] = ()
    try:
        history = inventory.read()
    except Refused as error:
        if error.refusal.status != 403:
            raise
        history, notes = History(), (f"{error.message}; earlier runs are unknown",)
    snapshot = Snapshot(client, work, inventory.live)
    snapshot.read(work.manifests)
    history = snapshot.settled(history)
    compared = preview(snapshot, history, decide(history, snapshot, work, consent), consent)
    refusal = unknown_run(work.manifests)
    if refusal is not None:
        compared = compared._replace(refusal=_sentence(refusal))
    return compared._replace(notes=(*notes, *compared.notes))


def preview(snapshot: Snapshot, history: History, decision: Decision, consent: Consent) -> Compared:
    """Return what *decision* would do or, if it is a refusal, what it refuses to do."""
    refusal, steps, basis = None, decision.steps, None
    if decision.refusal is not None:
        refusal = _sentence(decision.refusal)
        agreed = consent._replace(replace=True)
        steps = decide(history, snapshot, snapshot.work, agreed).steps
    objects = _Objects(snapshot)
    listed = in_order_of(snapshot.work.manifests, steps)
    rows = [row for row in snapshot.client.each(objects.row, listed) if row is not None]
    rows += [Row(Change(essence(step.live), None)) for step in steps if isinstance(step, Delete)]
    unread = next((step.error for step in steps if isinstance(step, RefuseToPrune)), None)
    if unread is not None and rows and not any(row.problem for row in rows):
        problem = f"{unread.message}; objects that are no longer rendered are unknown"
        rows[0] = rows[0]._replace(problem=problem)
    names = (str(identity(step.manifest)) for step in listed)
    notes = (*decision.notes, *kept_note([name for name in names if name in objects.kept]))
    if objects.adopted:
        notes = (*notes, _ADOPTED)
    tried = next((step.manifests for step in decision.steps if isinstance(step, Try)), None)
    if tried is not None and decision.error is None:
        try:
            trial.check(snapshot, tried, objects.tell, asked=True)
        except OperationFailed as error:
            refusal = _sentence(error)
    notes = (*notes, *objects.remarks)
    if snapshot.presence is not None:
        basis = _basis(snapshot, history, decision)
    return Compared(rows, notes, refusal, basis)


def _sentence(error: OperationFailed) -> str:
    return "; ".join(filter(None, (error.message, error.hint)))


def check_approval(
    snapshot: Snapshot, history: History, decision: Decision, consent: Consent
) -> None:
    """Refuse to do anything other than what a plan approved, if there is one."""
    if consent.approved is None:
        return
    compared = preview(snapshot, history, decision, consent)
    comparison = Comparison(snapshot.work.name, snapshot.namespace, "", *compared)
    moved = list(plan.moved(consent.approved, plan.of(comparison)))
    if moved or comparison.refusal:
        reasons = [*moved, *filter(None, [comparison.refusal])]
        raise OperationFailed(
            f"the plan is stale: {'; '.join(reasons)}",
            "create a new plan: paddlespec diff PATH... --out FILE",
        )


def _basis(snapshot: Snapshot, history: History, decision: Decision) -> dict[str, Any]:
    """Return what an approval rests on; whether a run has ended meanwhile does not matter."""
    last = history.ran
    return {
        "step": decision.begins,
        "run": f"{last.number} ({last.uid})" if last is not None else None,
        "objects": {
            str(target): {
                "uid": live["metadata"]["uid"],
                "generation": live["metadata"].get("generation"),
            }
            for target, live in snapshot.objects.items()
        },
        "server": snapshot.client.host,
    }


class _Objects:
    """
    The rows of steps; `kept` names the objects that are kept although rendered differently, and
    `adopted` those that another tool created.

    A new object is shown as rendered: what the server adds is the same for every job or random. An
    object that could not be compared is shown by the fields we own, with the problem.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.kept: list[str] = []
        self.adopted: list[str] = []
        self.remarks: list[str] = []

    def tell(self, event: Event) -> None:
        self.remarks.append(str(event))

    def row(self, step: ObjectStep) -> Row | None:
        match step:
            case Create(manifest):
                return self._created(manifest)
            case Update(manifest, live):
                return self._updated(step, live)
            case Replace(manifest, live):
                return self._replaced(manifest, live)
            case Keep(manifest):
                return self._left(manifest)
            case Refuse(manifest, error):
                return self._refused(manifest, error)

    def _created(self, manifest: Manifest) -> Row:
        """Return the row of a new object, with the cluster's refusal if it would not accept it."""
        change = Change(None, self._rendered(manifest))
        if self.snapshot.seen(manifest) is not None:
            return Row(change)  # it belongs to an earlier run, which is ending
        refused = self.snapshot.ask(manifest, None).refused
        return Row(change, refused.message if refused else None)

    def _updated(self, step: Update, live: Manifest, tries: int = _TRIES) -> Row:
        first = tries == _TRIES
        ask = self.snapshot.answer if first else self.snapshot.ask
        answer = ask(step.manifest, live)
        if step.lenient and answer.is_stuck:
            self.kept.append(str(identity(live)))
            return Row(Change(essence(live), essence(live)))
        if answer.after is None:
            return self._unanswered(step, live, answer)
        version = answer.after["metadata"].get("resourceVersion")
        if version != live["metadata"]["resourceVersion"] and tries > 1:
            # It changed in between; only differences that the apply makes count.
            newer = self.snapshot.client.get(self.snapshot.identity(step.manifest))
            if newer is None:
                return Row(Change(None, self._rendered(step.manifest)))
            return self._updated(step, newer, tries - 1)
        return Row(self._change(live, answer.after))

    def _unanswered(self, step: Update, live: Manifest, answer: Answer) -> Row:
        """Return the row of an object whose update the server refuses."""
        assert answer.refused is not None
        refused = answer.refused
        if refused.refusal.conflicts:
            try:
                target = self.snapshot.identity(live)
                taken = self.snapshot.client.apply(answer.sent, target, dry_run=True, force=True)
            except Refused as again:
                if again.refusal.is_no_answer:
                    raise
            else:
                conflict = f"{_conflicts(refused)}; `apply --force-conflicts` does this"
                return Row(self._change(live, taken), conflict=conflict)
        change = self._ours(answer.sent, live)
        if refused.refusal.is_immutable:
            return Row(change, explained(refused, live).message)
        if step.lenient and _needs_other_pods(change, live):
            self.kept.append(str(identity(live)))
            change = Change(change.before, change.before)
        return Row(change, _by_reading(refused))

    def _replaced(self, manifest: Manifest, live: Manifest) -> Row:
        """Return the row of an object replaced with its run, and with fields set by others."""
        answer = self.snapshot.answer(manifest, live)
        refused = answer.refused
        if refused and not (refused.refusal.conflicts or refused.refusal.is_immutable):
            return Row(self._ours(answer.sent, live), _by_reading(refused))
        owners = live["metadata"].get("ownerReferences") or [None]
        namespace = self.snapshot.namespace
        sent = desired_object(manifest, None, namespace, owners[0], fingerprint_of(live))
        ours = own(live, sent)
        for path in taken_over(live, ours, sent):
            sent = without(sent, path)
        return Row(recreated(ours, sent, live["metadata"]["uid"]))

    def _left(self, manifest: Manifest) -> Row | None:
        seen = self.snapshot.seen(manifest)
        if isinstance(seen, Refused):
            return self._refused(manifest, seen)
        if seen is None or belongs_to(seen) != self.snapshot.work.name:
            return None
        return Row(Change(essence(seen), essence(seen)))

    def _refused(self, manifest: Manifest, error: OperationFailed) -> Row:
        seen = self.snapshot.seen(manifest)
        if seen is None or isinstance(seen, Refused):
            return Row(Change(None, self._rendered(manifest)), error.message)
        if belongs_to(seen) == self.snapshot.work.name:
            return Row(Change(essence(seen), essence(seen)), error.message)
        # The contents of other owners' objects are not shown.
        name, namespace = manifest["metadata"]["name"], self.snapshot.namespace
        theirs = {**manifest, "metadata": {"name": name, "namespace": namespace}}
        return Row(Change(theirs, theirs), error.message)

    def _change(self, live: Manifest, answered: Manifest) -> Change:
        before, after = essence(live), _resumed(essence(answered), live)
        if is_adopted(live):
            self.adopted.append(str(identity(live)))
            before = registered(before, after)
        return Change(before, before if before == after else after)

    def _ours(self, sent: Manifest, live: Manifest) -> Change:
        """Return the fields we own, before and after, as far as known without the server."""
        sent = without(sent, ["metadata", "uid"])
        return Change(own(live, sent), _resumed(sent, live))

    def _rendered(self, manifest: Manifest) -> Manifest:
        metadata = {**manifest["metadata"], "namespace": self.snapshot.namespace}
        return {**manifest, "metadata": metadata}


def _needs_other_pods(change: Change, live: Manifest) -> bool:
    """Report whether an object would have to be suspended or replaced."""
    held = has_pods(live) and workloads.is_stopped(live)
    effects = {field.effect for field in change.fields}
    return Effect.replacement in effects or (Effect.suspended in effects and not held)


def _by_reading(refused: Refused) -> str:
    return f"{refused.message}; compared by reading only"


def _conflicts(refused: Refused) -> str:
    """Name the managers of fields without the object, which stands before it."""
    return refused.message.partition(" has ")[2]


def _resumed(after: Manifest, live: Manifest) -> Manifest:
    """Return *after* as an apply leaves it: a Job that it suspended is resumed at the end."""
    if not is_ours_to_resume(live):
        return after
    return resumed(after)
