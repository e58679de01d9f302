"""
Execute the steps of an apply so that an interrupted one can be continued by the next.

The run is recorded first; then the previous run ends; then the new one is created: every Job
suspended, and the trainers' Job first, because it owns all other objects. Its UID is recorded
before anything can run. The Jobs are resumed only when all objects exist.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change import conflicts, trial
from paddlespec.backends.cluster.change.desired import (
    ANY_UID,
    belongs_to,
    essence,
    is_ours_to_resume,
    not_ours,
    resume_patch,
    was_started,
)
from paddlespec.backends.cluster.change.inventory import now
from paddlespec.change.steps import (
    Begin,
    Create,
    Delete,
    End,
    Keep,
    Record,
    Refuse,
    RefuseToPrune,
    Replace,
    Resume,
    Try,
    Update,
    WaitUntilGone,
)
from paddlespec.render.manifest import JOB_LABEL, identity
from paddlespec.runs.backoff import Backoff
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import State
from paddlespec.runs.values import Event, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.cluster.change.inventory import Inventory
    from paddlespec.backends.cluster.change.snapshot import Snapshot
    from paddlespec.change.steps import Step
    from paddlespec.render.manifest import Identity, Manifest
    from paddlespec.runs.history import History, RunRecord

_PATIENCE_SECONDS = 120


class Execution:
    """
    Execute the steps of one apply, or report them if *mode* is a dry run.

    `sent` is what was or would be sent. `kept` names the objects that are kept although this
    version renders them differently.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        inventory: Inventory,
        mode: Mode,
        report: Callable[[Event], None],
        *,
        force: bool = False,
    ) -> None:
        self.snapshot, self.inventory, self.mode, self.report = snapshot, inventory, mode, report
        self.client, self.work, self.force = snapshot.client, snapshot.work, force
        self.sent: list[Manifest] = []
        self.kept: list[str] = []
        self._made: dict[Identity, Manifest] = {}

    @property
    def owner(self) -> Manifest | None:
        """The trainers' Job, once it is created or updated."""
        owner = self.snapshot.parts.owner
        return self._made.get(identity(owner)) if owner is not None else None

    def take(self, step: Step) -> None:
        """Execute one step."""
        match step:
            case Try(manifests):
                self._try(manifests)
            case Record(intent):
                self._record(intent)
            case End(uid):
                self._end(uid)
            case WaitUntilGone(manifest):
                self._wait_until_gone(manifest)
            case Begin():
                self._begin()
            case Create(manifest):
                self._put(manifest, None, "created")
            case Update():
                self._update(step)
            case Replace(manifest):
                self._replace(manifest)
            case Keep(manifest, reason):
                if reason:
                    self.report(Event(f"{identity(manifest)} {reason}"))
            case Resume(manifest):
                self._resume(manifest)
            case Delete(live):
                self._delete(live)
            case Refuse(_, error) | RefuseToPrune(error):
                raise error

    def _try(self, manifests: Sequence[Manifest]) -> None:
        if self.snapshot.asks:
            trial.check(self.snapshot, manifests, self.report)

    def _record(self, intent: RunRecord | None) -> None:
        def settled(history: History) -> History:
            history = self.snapshot.settled(history)
            return history.intend(intent) if intent else history

        self._write(settled)

    def _write(self, change: Callable[[History], History]) -> None:
        if self.mode is Mode.none:
            kinds = [(one["apiVersion"], one["kind"]) for one in self.work.manifests]
            self.inventory.write(change, kinds, self.work.project, self.work.source)

    def _end(self, uid: str) -> None:
        owner = self.snapshot.parts.owner
        assert owner is not None
        if self.mode is Mode.none:
            self.client.delete(self.snapshot.identity(owner), uid)
            self.report(Event("deleted", str(identity(owner))))
            self._write(lambda history: history.end(uid, State.replaced, now()))

    def _begin(self) -> None:
        uid = self.owner["metadata"].get("uid") if self.owner else None
        if uid:
            self._write(lambda history: history.begin(uid, now()))

    def _replace(self, manifest: Manifest) -> None:
        if self.mode is Mode.server:
            self.report(Event("would be replaced (server dry run)", str(identity(manifest))))
            return
        if self.mode is Mode.client:
            self.report(Event("would be replaced", str(identity(manifest))))
        self._put(manifest, None, "replaced")

    def _update(self, step: Update) -> None:
        manifest, live = step.manifest, step.live
        # The server would accept another template, and the controller would restart pods with state.
        if (
            step.lenient
            and _accepts_anything(manifest)
            and self.snapshot.asks
            and self.snapshot.answer(manifest, live).is_stuck
        ):
            self._keep(manifest, live)
            return
        self._put(manifest, live, lenient=step.lenient)
        suspended = manifest is self.snapshot.parts.owner and workloads.is_stopped(live)
        if suspended and was_started(live):
            state = "was suspended after it started and remains suspended"
            self.report(Event(state, str(identity(live))))

    def _keep(self, manifest: Manifest, live: Manifest) -> None:
        self.kept.append(str(identity(manifest)))
        self._made[identity(manifest)] = live

    def _put(
        self, manifest: Manifest, live: Manifest | None, verb: str = "", *, lenient: bool = False
    ) -> None:
        """Apply one object, and report the result."""
        whole = self.snapshot.sent(manifest, live, self._owner_uid())
        self.sent.append(whole)
        if self.mode is Mode.client:
            self._made[identity(manifest)] = live or whole
            return
        try:
            after = self._apply(whole, live)
        except Refused as error:
            if live is not None and lenient and error.refusal.is_immutable:
                self._keep(manifest, live)
                return
            raise conflicts.explained(error, live) from None
        self._made[identity(manifest)] = after
        if live is not None:
            verb = "unchanged" if essence(after) == essence(live) else "changed"
        dry = " (server dry run)" if self.mode is Mode.server else ""
        self.report(Event(f"{verb}{dry}", str(identity(manifest))))

    def _owner_uid(self) -> str | None:
        """Return the UID for owner references; a client dry run may have none."""
        uid: str | None = self.owner["metadata"].get("uid") if self.owner else None
        return ANY_UID if uid is None and self.mode is Mode.server else uid

    def _apply(self, whole: Manifest, live: Manifest | None) -> Manifest:
        dry_run = self.mode is Mode.server
        answer = conflicts.send(self.client, whole, live, dry_run=dry_run)
        if answer.yielded:
            fields = ", ".join(answer.yielded)
            self.report(Event(f"leaves {fields} to Kueue", str(identity(whole))))
        if answer.after is not None:
            return answer.after
        assert answer.refused is not None
        refusal = answer.refused.refusal
        force = self.force and bool(refusal.conflicts)
        if live is None or not (force or refusal.is_stale):
            raise answer.refused
        after = conflicts.write(self.client, answer.sent, live, force=force, dry_run=dry_run)
        for conflict in refusal.conflicts:
            taken = f"takes {conflict.field} from {conflict.manager}"
            self.report(Event(taken, str(identity(whole))))
        return after

    def _resume(self, manifest: Manifest) -> None:
        """Resume a Job that we suspended; its UID ensures that it is the same one."""
        if self.mode is not Mode.none:
            return
        live = self._made[identity(manifest)]
        if not is_ours_to_resume(live):
            return
        try:
            self.client.replace_value(live, self.snapshot.identity(live), *resume_patch(live))
        except Refused as error:
            if error.refusal.status not in (404, 422):
                raise
            raise OperationFailed(
                f"{identity(live)} was deleted or replaced while it was being started",
                f"check the job: paddlespec status {self.work.name}",
            ) from None
        self.report(Event("started", str(identity(live))))

    def _delete(self, live: Manifest) -> None:
        """Delete exactly this object, if it still exists."""
        if self.mode is Mode.none:
            self.client.delete(identity(live), live["metadata"]["uid"])
            self.report(Event("deleted", str(identity(live))))
        else:
            self.report(Event("would be deleted (server dry run)", str(identity(live))))

    def _wait_until_gone(self, manifest: Manifest | None) -> None:
        """
        Wait until an object is deleted, or everything left of an earlier run.

        Pods of the earlier run would answer under the names of the new ones, and objects that its
        Job owned are about to be garbage-collected.
        """
        if self.mode is not Mode.none:
            return
        shown = None
        pauses = Backoff().pauses()
        limit = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < limit:
            left = self._left() if manifest is None else self._object_left(manifest)
            if not left:
                return
            if left != shown:
                self.report(Event(f"waiting for an earlier run to end: {left}"))
                shown = left
            self.client.pause(next(pauses))
        raise OperationFailed(
            f"an earlier run of {self.work.name} did not end within {_PATIENCE_SECONDS} s: {shown}",
            f"delete what is left: paddlespec delete {self.work.name}",
        )

    def _left(self) -> str:
        """Describe what is left of an earlier run; empty if a new one can be created."""
        name = self.work.name
        pods = self.client.find("v1", "Pod", self.snapshot.namespace, f"{JOB_LABEL}={name}")
        if pods:
            return f"{len(pods)} pods"
        objects = filter(None, (self.snapshot.parts.owner, *self.snapshot.parts.owned))
        return next(filter(None, map(self._object_left, objects)), "")

    def _object_left(self, manifest: Manifest) -> str:
        live = self.client.get(self.snapshot.identity(manifest))
        if live is None:
            return ""
        if belongs_to(live) != self.work.name:
            raise OperationFailed(not_ours(live), "rename this job, or delete the object")
        ends = workloads.is_going(live) or live["metadata"].get("ownerReferences")
        return str(identity(manifest)) if ends else ""


def _accepts_anything(manifest: Manifest) -> bool:
    """Report whether the server accepts changes of *manifest* that running pods do not survive."""
    known = workloads.find(manifest)
    return known is not None and (bool(known.KIND.restarting) or not known.KIND.is_built_in)
