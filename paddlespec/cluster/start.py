"""
Starting a job so that an apply may die at any moment and the next one goes on.

Every Job is created suspended, the trainers' first: it owns all other objects, so that they go
when it goes. Only when all of them are there is it resumed. Whatever dies in between leaves
nothing that runs without limit.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from paddlespec.backend import Event, Mode, OperationFailed
from paddlespec.cluster import conflicts, readiness, replace
from paddlespec.cluster.parts import Parts, has_pods
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import (
    ANY_UID,
    belongs_to,
    essence,
    is_job,
    is_ours_to_resume,
    is_owner,
    kueues,
    lost,
    namespace_of,
    not_ours,
    reference,
    wanted,
    was_started,
    without_kueues,
)
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Work
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Identity, Manifest


class Start:
    """
    The objects of one job, brought to what they are to be.

    `anew`: what is there is an earlier run's and about to go. `unchanged`: the spec says the same
    of the pods, so that what cannot be changed in place is left.
    """

    def __init__(
        self,
        client: Client,
        work: Work,
        mode: Mode,
        tell: Callable[[Event], None],
        *,
        force: bool = False,
    ) -> None:
        self.client = client
        self.work = work
        self.mode = mode
        self.tell = tell
        self.force = force
        self.anew = False
        self.unchanged = False
        self.left: list[str] = []
        self.sent: list[Manifest] = []
        self.namespace = namespace_of(client, work)

    def run(
        self, parts: Parts, live: Manifest | None, began: Callable[[Manifest], object]
    ) -> Manifest:
        """
        Make a run of *parts*, or mend the one whose trainers' Job is *live*.

        *began* is told of that Job before anything that it owns is made.
        """
        assert parts.owner is not None
        for each, found in zip(parts.claims, self.client.each(self.live, parts.claims)):
            self.put(each, found)
        owner = self.put(parts.owner, live)
        began(owner)
        runs = self._runs(live)
        known = [] if self.anew else self.client.each(self.live, parts.owned)
        started = [
            self._owned(each, found, owner, runs=runs)
            for each, found in zip_longest(parts.owned, known)
        ]
        if self.mode is Mode.none:
            for each in [*started, owner]:
                self._resume(each)
        self.tell_left()
        return owner

    def tell_left(self) -> None:
        """Tell what another version of this tool, or of its templates, renders otherwise."""
        if self.left:
            self.tell(
                Event(
                    f"left as they are: {', '.join(self.left)}: the spec says the same of the "
                    "pods; what is rendered otherwise cannot be changed in place"
                )
            )

    def would_replace(self, parts: Parts) -> None:
        """Tell what a server dry run can tell of a replacement."""
        assert parts.owner is not None
        for each in parts.claims:
            self.put(each, self.live(each))
        for each in (*parts.owned, parts.owner):
            verb = "created" if self.live(each) is None else "would be replaced"
            self.tell(Event(f"{verb} (server dry run)", named(each)))

    def differs(self, parts: Parts, live: Manifest) -> bool:
        """Whether a part of the job that is there cannot become what is rendered."""
        if self.mode is Mode.client:
            return False
        assert parts.owner is not None
        if self._is_stuck(parts.owner, live, None):
            return True
        workloads = [each for each in parts.owned if has_pods(each)]
        found = [(each, self.live(each)) for each in workloads]
        return any(own is not None and self._is_stuck(each, own, live) for each, own in found)

    def live(self, manifest: Manifest) -> Manifest | None:
        """The live object, which must be this job's own."""
        live = self.client.get(self.identity(manifest))
        if live is None:
            return None
        if belongs_to(live) != self.work.name:
            raise OperationFailed(
                not_ours(live), "give this job another name, or delete the object"
            )
        return live

    def put(
        self, manifest: Manifest, live: Manifest | None, owner: Manifest | None = None
    ) -> Manifest:
        """Apply one object, and tell what became of it; returns it as it is then."""
        whole = wanted(
            manifest, live, self.namespace, self._reference(owner), self.work.fingerprint
        )
        self.sent.append(whole)
        if self.mode is Mode.client:
            return live or whole
        try:
            found = self._apply(whole, live)
        except Refused as error:
            if live is not None and self.unchanged and error.refusal.is_immutable:
                self.left.append(named(manifest))
                return live
            raise self._explained(error, manifest, live) from None
        if live is None:
            verb = "replaced" if self.anew and is_owner(manifest) else "created"
        else:
            verb = "unchanged" if essence(found) == essence(live) else "changed"
        dry = " (server dry run)" if self.mode is Mode.server else ""
        self.tell(Event(f"{verb}{dry}", named(manifest)))
        return found

    def identity(self, manifest: Manifest) -> Identity:
        """The identity of an object here."""
        return identity(manifest)._replace(namespace=self.namespace)

    def _is_stuck(self, manifest: Manifest, live: Manifest, owner: Manifest | None) -> bool:
        sent = wanted(manifest, live, self.namespace, self._reference(owner))
        return replace.is_stuck(self.client, sent, live)

    def _runs(self, live: Manifest | None) -> bool:
        if live is None or not was_started(live):
            return False
        if live["spec"].get("suspend"):
            self.tell(Event("was suspended after its start, and stays so", named(live)))
        return True

    def _owned(
        self, manifest: Manifest, live: Manifest | None, owner: Manifest, *, runs: bool
    ) -> Manifest:
        if has_pods(manifest):
            self._whole(manifest, live, runs=runs)
        restarts = live is not None and not is_job(manifest) and has_pods(manifest)
        if restarts and self.unchanged and self.mode is not Mode.client:
            assert live is not None
            if self._is_stuck(manifest, live, owner):
                self.left.append(named(manifest))
                return live
        return self.put(manifest, live, owner)

    def _whole(self, manifest: Manifest, live: Manifest | None, *, runs: bool) -> None:
        """Refuse to mend a run that has lost a role."""
        hint = f"paddlespec kill {self.work.name}, then apply --rerun"
        if runs and live is None:
            raise OperationFailed(lost(manifest), hint)
        if live is not None and is_job(live) and not (found := readiness.job(live)).ok:
            raise OperationFailed(f"{named(manifest)} {found.message}", hint)

    def _reference(self, owner: Manifest | None) -> dict[str, str] | None:
        """How the owned name their owner; it has no UID where nothing was sent."""
        if owner is None:
            return None
        uid = owner["metadata"].get("uid")
        if uid is None and self.mode is Mode.server:
            uid = ANY_UID
        return reference(owner, uid) if uid is not None else None

    def _apply(self, whole: Manifest, live: Manifest | None) -> Manifest:
        dry_run = self.mode is Mode.server
        try:
            return self.client.apply(whole, self.identity(whole), dry_run=dry_run)
        except Refused as error:
            refusal = error.refusal
            if yielded := kueues(whole, refusal):
                self.tell(Event(f"leaves {', '.join(yielded)} to Kueue", named(whole)))
                return self._apply(without_kueues(whole, yielded), live)
            force = self.force and bool(refusal.conflicts)
            if live is None or not (force or refusal.is_stale):
                raise
        found = conflicts.write(self.client, whole, live, force=force, dry_run=dry_run)
        for each in refusal.conflicts:
            self.tell(Event(f"takes {each.field} from {each.manager}", named(whole)))
        return found

    def _resume(self, live: Manifest) -> None:
        """Let a Job go that we hold back; its UID makes sure that it is this one."""
        if not is_ours_to_resume(live):
            return
        try:
            self.client.replace_value(live, self.identity(live), "/spec/suspend", False)
        except Refused as error:
            if error.refusal.status not in (404, 422):
                raise
            raise OperationFailed(
                f"{named(live)} was deleted or replaced while it was being started",
                "look at what is there, then apply again",
            ) from None
        self.tell(Event("started", named(live)))

    def _explained(self, error: Refused, manifest: Manifest, live: Manifest | None) -> Exception:
        if not error.refusal.is_immutable:
            return error
        state = ""
        if live is not None and is_job(live):
            state = f", which {readiness.state(live)}"
        return OperationFailed(
            f"{named(manifest)}{state}: what changed ({', '.join(error.refusal.fields)}) "
            "cannot be changed in place: it has to be replaced",
            f"paddlespec delete {self.work.name}, then apply",
        )


def named(manifest: Manifest) -> str:
    """An object as people read it."""
    return str(identity(manifest))
