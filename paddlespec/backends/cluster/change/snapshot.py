"""
The objects of one job on a cluster, read once and only as far as a decision needs them.

An object that cannot be read is represented by its refusal. The server performs a dry run only if
nothing else can answer the question, and never twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change import conflicts, prune
from paddlespec.backends.cluster.change.desired import (
    ANY_UID,
    belongs_to,
    desired_object,
    fingerprint_of,
    is_ours_to_resume,
    is_queued,
    lost,
    namespace_of,
    not_ours,
    reference,
    was_started,
)
from paddlespec.backends.cluster.change.history_sync import settled
from paddlespec.backends.cluster.change.parts import divide, has_pods
from paddlespec.change.live import Leftovers, Member, Part, Presence
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.change.conflicts import Answer
    from paddlespec.render.manifest import Identity, Manifest
    from paddlespec.runs.history import History
    from paddlespec.runs.values import Work


class Snapshot:
    """
    A job as a decision sees it; implements `paddlespec.change.live.Live`.

    `asks`: dry runs are allowed, and objects that are no longer rendered count; neither holds for a
    client dry run.
    """

    def __init__(
        self,
        client: Client,
        work: Work,
        inventory: Manifest | None,
        *,
        asks: bool = True,
    ) -> None:
        self.client, self.work, self.inventory = client, work, inventory
        self.asks = asks
        self.namespace = namespace_of(client, work)
        self.parts = divide(work.manifests)
        self._seen: dict[Identity, Manifest | Refused | None] = {}
        self._answers: dict[Identity, Answer] = {}

    def read(self, manifests: Iterable[Manifest]) -> None:
        """Read the objects with the names of *manifests*, concurrently."""
        missing = [target for target in map(self.identity, manifests) if target not in self._seen]
        self._seen.update(zip(missing, self.client.each(self._read, missing)))

    def seen(self, manifest: Manifest) -> Manifest | Refused | None:
        """Return the object with the name of *manifest*, even if it has another owner."""
        self.read([manifest])
        return self._seen[self.identity(manifest)]

    @property
    def objects(self) -> Mapping[Identity, Manifest]:
        """The objects that were read and exist."""
        return {key: live for key, live in self._seen.items() if isinstance(live, dict)}

    def settled(self, history: History) -> History:
        """Update *history* with what the trainers' Job, or its absence, says about the last run."""
        if self.presence is None:
            return history
        assert self.parts.owner is not None
        live = self.seen(self.parts.owner)
        assert not isinstance(live, Refused)
        history = settled(history, live)
        # Later steps wait until a Job that is being deleted is gone.
        return settled(history, None) if live and workloads.is_going(live) else history

    @cached_property
    def presence(self) -> Presence | None:
        if self.owner is None or self.owner.refused is not None:
            return None
        live = self.owner.live
        if live is None:
            return Presence.absent
        if self.owner.held:
            return Presence.held
        return Presence.finished if workloads.progress(live).done else Presence.running

    @property
    def state(self) -> str:
        if self.owner is None or self.owner.live is None:
            return self.work.name
        return _state(self.owner.live)

    @property
    def fingerprint(self) -> str | None:
        live = self.owner.live if self.owner else None
        return fingerprint_of(live) if live else None

    @property
    def uid(self) -> str | None:
        live = self.owner.live if self.owner else None
        return live["metadata"]["uid"] if live else None

    @cached_property
    def is_stuck(self) -> bool:
        if not self.asks:
            return False
        running = [(one.manifest, one.live) for one in self.members if one.runs_pods]
        return any(
            live is not None and self.answer(manifest, live).is_stuck
            for manifest, live in sorted(running, key=lambda pair: not workloads.is_owner(pair[0]))
        )

    @cached_property
    def owner(self) -> Member | None:
        owner = self.parts.owner
        return None if owner is None else self._member(owner, Part.owner)

    @cached_property
    def members(self) -> list[Member]:
        self.read(self.work.manifests)
        claims = [self._member(manifest, Part.claim) for manifest in self.parts.claims]
        owned = [self._member(manifest, Part.owned) for manifest in self.parts.owned]
        return [*claims, *([self.owner] if self.owner else []), *owned]

    @cached_property
    def leftovers(self) -> Leftovers:
        if not self.asks:
            return Leftovers()
        rendered, name = self.work.manifests, self.work.name
        try:
            left = prune.left_over(self.client, self.namespace, name, rendered, self.inventory)
        except Refused as error:
            if error.refusal.is_no_answer:
                raise
            return Leftovers(error=error)
        running = prune.running(left, self.owner.live if self.owner else None)
        finished = next((live for live in left.objects if workloads.is_owner(live)), None)
        return Leftovers(
            left.objects,
            left.claims,
            [live for live in (*left.objects, *left.used) if self._owns(live)],
            _state(running) if running else None,
            _state(finished) if finished else None,
        )

    def answer(self, manifest: Manifest, live: Manifest) -> Answer:
        """Return the result of a server dry run of what an apply sends to change *live*."""
        target = self.identity(manifest)
        if target not in self._answers:
            self._answers[target] = self.ask(manifest, live)
        return self._answers[target]

    def ask(self, manifest: Manifest, live: Manifest | None) -> Answer:
        """Return the same without the cache; *live* may be missing."""
        owner = self.uid or ANY_UID
        known = ((live or {}).get("metadata", {}).get("ownerReferences") or [None])[0]
        sent = self.sent(manifest, live, known["uid"] if known and not self.uid else owner)
        return conflicts.send(self.client, sent, live, dry_run=True)

    def sent(self, manifest: Manifest, live: Manifest | None, owner: str | None) -> Manifest:
        """Return what an apply sends for *manifest*; *owner* is the UID of the trainers' Job."""
        reference_to = None
        if owner is not None and self.parts.owner is not None and manifest in self.parts.owned:
            reference_to = reference(self.parts.owner, owner)
        return desired_object(manifest, live, self.namespace, reference_to, self.work.fingerprint)

    def identity(self, manifest: Manifest) -> Identity:
        """Return the identity of an object in the namespace of the job."""
        return identity(manifest)._replace(namespace=self.namespace)

    def _read(self, target: Identity) -> Manifest | Refused | None:
        try:
            return self.client.get(target)
        except Refused as error:
            if error.refusal.is_no_answer:
                raise
            return error

    def _owns(self, live: Manifest) -> bool:
        owners = live["metadata"].get("ownerReferences") or ()
        return self.uid is not None and any(owner["uid"] == self.uid for owner in owners)

    def _member(self, manifest: Manifest, part: Part) -> Member:
        seen = self.seen(manifest)
        starts_held = workloads.ends(manifest) and not is_queued(manifest)
        runs_pods = part is not Part.claim and has_pods(manifest)
        member = Member(manifest, part, starts_held=starts_held, runs_pods=runs_pods)
        if isinstance(seen, Refused):
            return member._replace(refused=seen)
        if seen is not None and belongs_to(seen) != self.work.name:
            hint = "rename this job, or delete the object"
            return member._replace(refused=OperationFailed(not_ours(seen), hint))
        if seen is not None and self._is_ending(part, seen):
            member = member._replace(ends=True)
        elif seen is not None:
            member = member._replace(live=seen, held=is_ours_to_resume(seen))
        return member._replace(broken=self._broken(member))

    def _is_ending(self, part: Part, live: Manifest) -> bool:
        """Report whether an object belongs to an earlier run, which an apply waits for."""
        if workloads.is_going(live):
            return True
        owned = part is Part.owned and bool(live["metadata"].get("ownerReferences"))
        return owned and self.presence is Presence.absent

    def _broken(self, member: Member) -> OperationFailed | None:
        """Return why a run that has lost a role cannot be repaired: the role held state."""
        if member.part is not Part.owned or not member.runs_pods:
            return None
        owner = self.owner.live if self.owner else None
        message = None
        if member.live is None and owner is not None and was_started(owner):
            message = lost(member.manifest)
        elif member.live is not None and workloads.ends(member.live):
            progress = workloads.progress(member.live)
            message = None if progress.ok else f"{identity(member.live)} {progress.message}"
        hint = f"run paddlespec kill {self.work.name}, then apply again with --rerun"
        return OperationFailed(message, hint) if message else None


def _state(live: Manifest) -> str:
    """Describe the state of a workload as a clause."""
    return f"{identity(live)} {workloads.state(live)}"
