"""Preview the steps of an apply on this machine: each process before and after."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from paddlespec.change.decide import decide, kept_note
from paddlespec.change.diff import Change, Row, diff, recreated
from paddlespec.change.live import Leftovers, Member, Part, Presence
from paddlespec.change.steps import Create, Delete, Keep, Refuse, Replace, Update, in_order_of
from paddlespec.render.manifest import identity
from paddlespec.runs.history import State
from paddlespec.runs.outcome import ending
from paddlespec.runs.values import Compared

if TYPE_CHECKING:
    from paddlespec.backends.local.store.job_folder import JobFolder
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.history import History
    from paddlespec.runs.values import Consent, Work


class Snapshot:
    """
    A job of this machine as a decision sees it; implements `paddlespec.change.live.Live`.

    Processes cannot be changed: a run stays as it was started until it ends.
    """

    owner = None

    def __init__(self, folder: JobFolder, work: Work, history: History) -> None:
        self.folder, self.work, self.last = folder, work, history.ran

    @cached_property
    def presence(self) -> Presence:
        if self.last is not None and self.last.number in self.folder.alive():
            return Presence.running
        ended = self.last is not None and self.last.state in (State.succeeded, State.failed)
        return Presence.finished if ended else Presence.absent

    @property
    def state(self) -> str:
        if self.last is None or self.presence is Presence.running:
            return f"{self.work.name} is running"
        return f"{self.work.name} {ending(self.last.state)}"

    @property
    def fingerprint(self) -> str | None:
        return self.last.fingerprint if self.last else None

    @property
    def uid(self) -> str | None:
        return self.last.uid if self.last else None

    @property
    def is_stuck(self) -> bool:
        return self.fingerprint != self.work.fingerprint

    @cached_property
    def before(self) -> list[Manifest]:
        """The processes of the last run, as long as its folder exists."""
        if self.last is None or self.presence is Presence.absent:
            return []
        return self.folder.manifests(self.last.number)

    @property
    def leftovers(self) -> Leftovers:
        rendered = {identity(manifest) for manifest in self.work.manifests}
        return Leftovers(owned=[one for one in self.before if identity(one) not in rendered])

    @property
    def members(self) -> list[Member]:
        known = {identity(manifest): manifest for manifest in self.before}
        return [
            Member(manifest, Part.owned, known.get(identity(manifest)))
            for manifest in self.work.manifests
        ]


def outlook(folder: JobFolder, work: Work, consent: Consent) -> Compared:
    """Return the processes before and after an apply, and the refusal that would prevent it."""
    history = folder.history()
    snapshot = Snapshot(folder, work, history)
    decision = decide(history, snapshot, work, consent)
    refusal, steps = None, decision.steps
    if decision.refusal is not None:
        refusal = f"{decision.refusal.message}; {decision.refusal.hint}"
        steps = decide(history, snapshot, work, consent._replace(replace=True)).steps
    changes = {change.identity: change for change in diff(snapshot.before, work.manifests)}
    rows, kept = [], []
    for step in in_order_of(work.manifests, steps):
        change = changes[identity(step.manifest)]
        match step:
            case Create() | Refuse():
                rows.append(Row(change))
            case Replace(manifest, live):
                rows.append(Row(recreated(live, manifest, snapshot.uid or "")))
            case Update() | Keep():
                if change.before is None:
                    continue
                rows.append(Row(Change(change.before, change.before)))
                kept += [str(change.identity)] if change.before != change.after else []
    rows += [Row(Change(step.live, None)) for step in steps if isinstance(step, Delete)]
    return Compared(rows, (*decision.notes, *kept_note(kept)), refusal)
