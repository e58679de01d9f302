"""
One apply of one job: what is there, what is written down of it, what is to be done, the record.

The order makes every moment a good one to die at. What is about to happen is recorded first; then
an earlier run ends; then the new one comes, and its UID is recorded before it can run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from paddlespec.backend import Event, Mode, OperationFailed, Run
from paddlespec.cluster import prune, readiness, replace
from paddlespec.cluster.inventory import Inventory, now
from paddlespec.cluster.judge import judge
from paddlespec.cluster.lock import Lock
from paddlespec.cluster.outlook import check_approval
from paddlespec.cluster.parts import Parts, divide, has_pods
from paddlespec.cluster.past import settled
from paddlespec.cluster.start import Start, named
from paddlespec.cluster.wanted import belongs_to, namespace_of
from paddlespec.history import History, Provenance, RunRecord, State
from paddlespec.lifecycle import Decision, Step
from paddlespec.manifest import JOB_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Consent, Work
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest

_LEFTOVERS_SECONDS = 120


class Apply:
    """One apply of one job; `sent` is what was, or would be, sent."""

    def __init__(
        self,
        client: Client,
        work: Work,
        mode: Mode,
        tell: Callable[[Event], None],
        consent: Consent,
    ) -> None:
        self.client, self.work, self.mode, self.tell = client, work, mode, tell
        self.consent = consent
        self.start = Start(client, work, mode, tell, force=consent.force_conflicts)
        self.namespace = namespace_of(client, work)
        self.inventory = Inventory(client, self.namespace, work.name)
        self.parts = divide(work.manifests)

    def __call__(self) -> Run:
        if self.mode is not Mode.none:
            return self._whole()
        with Lock(
            self.client,
            self.namespace,
            self.work.name,
            self.tell,
            force=self.consent.force_unlock,
        ):
            return self._whole()

    def _whole(self) -> Run:
        check_approval(self.client, self.work, self.consent)
        self.inventory.read()
        left = self._left_over()
        run = self._made(left)
        prune.delete(self.client, left, self.mode, self.tell)
        return run

    def _left_over(self) -> prune.Left:
        """
        What the spec no longer renders, as a comparison shows it before anything is done.

        It is deleted last; what belongs to a run that is replaced may have gone with it by then.
        """
        if self.mode is Mode.client or not self.consent.prune:
            return prune.Left()
        live, rendered = self.inventory.live, self.work.manifests
        return prune.left_over(self.client, self.namespace, self.work.name, rendered, live)

    def _agreed(self, left: prune.Left, owner: Manifest | None) -> None:
        """Refuse to delete what still is a run, before anything is written."""
        error = prune.refusal(left, owner, self.consent)
        if error is not None:
            raise error

    def _made(self, left: prune.Left) -> Run:
        parts = self.parts
        if parts.owner is None:
            self._agreed(left, None)
            for each in [*parts.claims, *parts.owned]:
                self.start.put(each, self.start.live(each))
            self._record(lambda history: history)
            return Run(self.work, self.namespace, None)
        live = self.start.live(parts.owner)
        history = settled(self.inventory.history, live)
        if live is not None and readiness.is_going(live) and self.mode is not Mode.client:
            live = None
        decision = self._decide(parts, history, live)
        if decision.why:
            self.tell(Event(decision.why))
        if decision.step is not Step.replace:
            self._agreed(left, live)
        match decision.step:
            case Step.nothing:
                return self._nothing(parts, history, live)
            case Step.keep:
                assert live is not None
                self._record(lambda history: settled(history, live))
                return self._run(parts, live)
            case Step.create | Step.replace:
                return self._anew(parts, live)

    def _decide(self, parts: Parts, history: History, live: Manifest | None) -> Decision:
        if live is not None:
            self.start.unchanged = replace.is_changed(live, self.work) is False

        def differs() -> bool:
            return live is not None and self.start.differs(parts, live)

        return judge(self.work, history, live, self.consent, differs)

    def _nothing(self, parts: Parts, history: History, live: Manifest | None) -> Run:
        """A run that is over: only what changes no pod may change, and nothing starts again."""
        self._record(lambda history: settled(history, live))
        if live is None:
            last = history.ran
            assert last is not None
            return Run(self.work, self.namespace, last.uid, last.state)
        if parts.owner is not None and readiness.job(live).done:
            self.start.put(parts.owner, live)
            self.start.tell_left()
        return Run(self.work, self.namespace, live["metadata"]["uid"])

    def _anew(self, parts: Parts, live: Manifest | None) -> Run:
        """A new run, once the earlier one is gone with all its pods."""
        assert parts.owner is not None
        if live is not None:
            self.start.anew = True
            if self.mode is not Mode.client:
                self._check(parts, parts.owner)
        if self.mode is Mode.server and live is not None:
            self.start.would_replace(parts)
            return Run(self.work, self.namespace, live["metadata"]["uid"])
        intent = self._intent()
        self._record(lambda history: settled(history, live).intend(intent))
        if live is not None:
            if self.mode is Mode.client:
                self.tell(Event("would be replaced", named(parts.owner)))
            else:
                uid = live["metadata"]["uid"]
                self.client.delete(self.start.identity(parts.owner), uid)
                self.tell(Event("deleted", named(parts.owner)))
                self._record(lambda history: history.end(uid, State.replaced, now()))
        if self.mode is Mode.none:
            self._gone(parts)
        return self._run(parts, None)

    def _run(self, parts: Parts, live: Manifest | None) -> Run:
        def began(owner: Manifest) -> None:
            uid = owner["metadata"].get("uid")
            if live is None and uid:
                self._record(lambda history: history.begin(uid, now()))

        owner = self.start.run(parts, live, began)
        return Run(self.work, self.namespace, owner["metadata"].get("uid"))

    def _check(self, parts: Parts, owner: Manifest) -> None:
        """Make sure that a new run can be, before the earlier one ends."""
        for each in parts.owned:
            self.start.live(each)
        workloads = [owner, *(each for each in parts.owned if has_pods(each))]
        replace.check(self.client, workloads, self.namespace, self.work.fingerprint or "trial")

    def _intent(self) -> RunRecord:
        from hashlib import sha256

        text = json.dumps(self.work.manifests, sort_keys=True, separators=(",", ":"))
        rendered = sha256(text.encode()).hexdigest()[:16]
        provenance = self.work.provenance or Provenance("unknown")
        return RunRecord(
            0,
            State.intended,
            provenance,
            self.work.fingerprint,
            rendered,
            spec=self.work.spec,
        )

    def _record(self, change: Callable[[History], History]) -> None:
        if self.mode is Mode.none:
            kinds = [(each["apiVersion"], each["kind"]) for each in self.work.manifests]
            self.inventory.write(change, kinds, self.work.project, self.work.source)

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
            live = self.client.get(self.start.identity(each))
            if live is None or belongs_to(live) != self.work.name:
                continue
            if readiness.is_going(live) or live["metadata"].get("ownerReferences"):
                return named(each)
        return ""
