"""
Starting a job so that an apply may die at any moment and the next one goes on.

Every Job is created suspended, the trainers' first: it owns all other objects, so that they go
when it goes. Only when all of them are there is it resumed. Whatever dies in between leaves
nothing that runs without limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import Event, Mode, OperationFailed, Run
from paddlespec.cluster import readiness, replace
from paddlespec.cluster.parts import Parts, divide, has_pods
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
from paddlespec.manifest import JOB_LABEL, identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Consent, Work
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Identity, Manifest

_LEFTOVERS_SECONDS = 120


class Start:
    """One apply of one job."""

    def __init__(
        self,
        client: Client,
        work: Work,
        mode: Mode,
        tell: Callable[[Event], None],
        consent: Consent,
    ) -> None:
        self.client = client
        self.work = work
        self.mode = mode
        self.tell = tell
        self.consent = consent
        self.anew = False
        self.unchanged = False
        self.left: list[str] = []
        self.sent: list[Manifest] = []
        self.namespace = namespace_of(client, work)

    def __call__(self) -> Run:
        parts = divide(self.work.manifests)
        if parts.owner is None:
            for each in [*parts.claims, *parts.owned]:
                self._put(each, self._live(each))
            return Run(self.work, self.namespace, None)
        live = self._live(parts.owner)
        if live is not None and readiness.is_going(live) and self.mode is not Mode.client:
            live = None
        if live is not None and self._is_due(parts, parts.owner, live):
            if self.mode is Mode.server:
                return self._would_replace(parts, parts.owner, live)
            self._end(parts, parts.owner, live)
            live = None
        if live is None and self.mode is Mode.none:
            self._gone(parts)
        run = self._run(parts, parts.owner, live)
        if self.left:
            self.tell(
                Event(
                    f"left as they are: {', '.join(self.left)}: the spec says the same of the "
                    "pods; what is rendered otherwise cannot be changed in place"
                )
            )
        return run

    def _run(self, parts: Parts, manifest: Manifest, live: Manifest | None) -> Run:
        if live is not None and (outcome := readiness.job(live)).done:
            return self._finished(manifest, live, outcome.message)
        for each in parts.claims:
            self._put(each, self._live(each))
        owner = self._put(manifest, live)
        runs = self._runs(live)
        started = [self._owned(each, owner, runs=runs) for each in parts.owned]
        if self.mode is Mode.none:
            for each in [*started, owner]:
                self._resume(each)
        return Run(self.work, self.namespace, owner["metadata"].get("uid"))

    def _is_due(self, parts: Parts, owner: Manifest, live: Manifest) -> bool:
        self.unchanged = replace.is_changed(live, self.work) is False
        differs = self.mode is not Mode.client and (lambda: self._differs(parts, owner, live))
        return replace.is_due(live, self.work, self.consent, differs or (lambda: False), self.tell)

    def _differs(self, parts: Parts, owner: Manifest, live: Manifest) -> bool:
        """Whether a part of the job that is there cannot become what is rendered."""
        if self._is_stuck(owner, live, None):
            return True
        workloads = [each for each in parts.owned if has_pods(each)]
        found = [(each, self._live(each)) for each in workloads]
        return any(own is not None and self._is_stuck(each, own, live) for each, own in found)

    def _is_stuck(self, manifest: Manifest, live: Manifest, owner: Manifest | None) -> bool:
        sent = wanted(manifest, live, self.namespace, self._reference(owner))
        return replace.is_stuck(self.client, sent, live)

    def _end(self, parts: Parts, owner: Manifest, live: Manifest) -> None:
        """Delete an earlier run with all that it owns, once it is sure that a new one can be."""
        self.anew = True
        if self.mode is Mode.client:
            self.tell(Event("would be replaced", self._named(owner)))
            return
        self._check(parts, owner)
        self.client.delete(self._identity(owner), live["metadata"]["uid"])
        self.tell(Event("deleted", self._named(owner)))

    def _would_replace(self, parts: Parts, owner: Manifest, live: Manifest) -> Run:
        """What a server dry run can tell of a replacement."""
        self._check(parts, owner)
        for each in parts.claims:
            self._put(each, self._live(each))
        for each in (*parts.owned, owner):
            verb = "created" if self._live(each) is None else "would be replaced"
            self.tell(Event(f"{verb} (server dry run)", self._named(each)))
        return Run(self.work, self.namespace, live["metadata"]["uid"])

    def _check(self, parts: Parts, owner: Manifest) -> None:
        for each in parts.owned:
            self._live(each)
        workloads = [owner, *(each for each in parts.owned if has_pods(each))]
        replace.check(self.client, workloads, self.namespace, self.work.fingerprint or "trial")

    def _runs(self, live: Manifest | None) -> bool:
        if live is None or not was_started(live):
            return False
        if live["spec"].get("suspend"):
            self.tell(Event("was suspended after its start, and stays so", self._named(live)))
        return True

    def _finished(self, owner: Manifest, live: Manifest, outcome: str) -> Run:
        """A run that is over: only what changes no pod may change, and nothing starts again."""
        self._put(owner, live)
        again = "to run it again: paddlespec apply --rerun"
        self.tell(Event(f"nothing to do: {self._named(owner)} is over: {outcome}; {again}"))
        return Run(self.work, self.namespace, live["metadata"]["uid"])

    def _owned(self, manifest: Manifest, owner: Manifest, *, runs: bool) -> Manifest:
        live = None if self.anew else self._live(manifest)
        if has_pods(manifest):
            self._whole(manifest, live, runs=runs)
        restarts = live is not None and not is_job(manifest) and has_pods(manifest)
        if restarts and self.unchanged and self.mode is not Mode.client:
            assert live is not None
            if self._is_stuck(manifest, live, owner):
                self.left.append(self._named(manifest))
                return live
        return self._put(manifest, live, owner)

    def _whole(self, manifest: Manifest, live: Manifest | None, *, runs: bool) -> None:
        """Refuse to mend a run that has lost a role."""
        hint = f"paddlespec delete {self.work.name}, then apply"
        if runs and live is None:
            raise OperationFailed(lost(manifest), hint)
        if live is not None and is_job(live) and not (found := readiness.job(live)).ok:
            raise OperationFailed(f"{self._named(manifest)} {found.message}", hint)

    def _live(self, manifest: Manifest) -> Manifest | None:
        """The live object, which must be this job's own."""
        live = self.client.get(self._identity(manifest))
        if live is None:
            return None
        if belongs_to(live) != self.work.name:
            raise OperationFailed(
                not_ours(live), "give this job another name, or delete the object"
            )
        return live

    def _put(
        self, manifest: Manifest, live: Manifest | None, owner: Manifest | None = None
    ) -> Manifest:
        """Apply one object, and tell what became of it; returns it as it is then."""
        reference = self._reference(owner)
        whole = wanted(manifest, live, self.namespace, reference, self.work.fingerprint)
        self.sent.append(whole)
        if self.mode is Mode.client:
            return live or whole
        try:
            found = self._apply(whole)
        except Refused as error:
            if live is not None and self.unchanged and error.refusal.is_immutable:
                self.left.append(self._named(manifest))
                return live
            raise self._explained(error, manifest, live) from None
        if live is None:
            verb = "replaced" if self.anew and is_owner(manifest) else "created"
        else:
            verb = "unchanged" if essence(found) == essence(live) else "changed"
        dry = " (server dry run)" if self.mode is Mode.server else ""
        self.tell(Event(f"{verb}{dry}", self._named(manifest)))
        return found

    def _reference(self, owner: Manifest | None) -> dict[str, str] | None:
        """How the owned name their owner; it has no UID where nothing was sent."""
        if owner is None:
            return None
        uid = owner["metadata"].get("uid")
        if uid is None and self.mode is Mode.server:
            uid = ANY_UID
        return reference(owner, uid) if uid is not None else None

    def _apply(self, whole: Manifest) -> Manifest:
        target, dry_run = self._identity(whole), self.mode is Mode.server
        try:
            return self.client.apply(whole, target, dry_run=dry_run)
        except Refused as error:
            yielded = kueues(whole, error.refusal)
            if not yielded:
                raise
        self.tell(Event(f"leaves {', '.join(yielded)} to Kueue", self._named(whole)))
        return self.client.apply(without_kueues(whole, yielded), target, dry_run=dry_run)

    def _resume(self, live: Manifest) -> None:
        """Let a Job go that we hold back; its UID makes sure that it is this one."""
        if not is_ours_to_resume(live):
            return
        try:
            self.client.replace_value(live, self._identity(live), "/spec/suspend", False)
        except Refused as error:
            if error.refusal.status not in (404, 422):
                raise
            raise OperationFailed(
                f"{self._named(live)} was deleted or replaced while it was being started",
                "look at what is there, then apply again",
            ) from None
        self.tell(Event("started", self._named(live)))

    def _explained(self, error: Refused, manifest: Manifest, live: Manifest | None) -> Exception:
        if not error.refusal.is_immutable:
            return error
        state = ""
        if live is not None and is_job(live):
            state = f", which {readiness.state(live)}"
        return OperationFailed(
            f"{self._named(manifest)}{state}: what changed ({', '.join(error.refusal.fields)}) "
            "cannot be changed in place: it has to be replaced",
            f"paddlespec delete {self.work.name}, then apply",
        )

    def _gone(self, parts: Parts) -> None:
        """
        Wait until nothing of an earlier run is left.

        Its pods would answer under the names of the new ones, and what its Job owned is about
        to be collected.
        """
        told = None
        for _ in range(_LEFTOVERS_SECONDS * 2):
            left = self._left(parts)
            if not left:
                return
            if left != told:
                self.tell(Event(f"waiting for the end of an earlier run: {left}"))
                told = left
            self.client.pause(0.5)
        raise OperationFailed(
            f"an earlier run of {self.work.name} does not end: {told}",
            f"paddlespec delete {self.work.name}",
        )

    def _left(self, parts: Parts) -> str:
        selector = f"{JOB_LABEL}={self.work.name}"
        pods = self.client.find("v1", "Pod", self.namespace, selector)
        if pods:
            return f"{len(pods)} pods"
        mine = [each for each in (parts.owner, *parts.owned) if each is not None]
        for each in mine:
            live = self.client.get(self._identity(each))
            if live is None or belongs_to(live) != self.work.name:
                continue
            if readiness.is_going(live) or live["metadata"].get("ownerReferences"):
                return self._named(each)
        return ""

    def _identity(self, manifest: Manifest) -> Identity:
        return identity(manifest)._replace(namespace=self.namespace)

    def _named(self, manifest: Manifest) -> str:
        return str(identity(manifest))
