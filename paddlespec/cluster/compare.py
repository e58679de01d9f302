"""
A job against the cluster: what an apply would change, asked of the API server itself.

Objects that are there are compared with the answer to a dry run of exactly what an apply would
send, so that defaults, webhooks and other writers show as they are. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cluster import readiness
from paddlespec.cluster.client import MANAGER
from paddlespec.cluster.own import own
from paddlespec.cluster.prune import Left, left_over
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import (
    ANY_UID,
    belongs_to,
    essence,
    fingerprint_of,
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
    without,
    without_kueues,
)
from paddlespec.diff import Change, Effect, Row
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from paddlespec.backend import Work
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.refusal import Refusal
    from paddlespec.manifest import Identity, Manifest

_TRIES = 3
_BY_READING = "compared by reading only"


class Comparing:
    """
    Each object of a job as it is and as it is rendered; what goes comes last.

    An object that is to be created is shown as it was rendered: what the server adds to it is the
    same for every job, and what it invents is never the same. An object that cannot be changed in
    place is shown by the fields that we apply. What could not be compared is a row with a problem,
    and so is one of the `conflicts`: it has fields that others have set.
    """

    def __init__(self, client: Client, work: Work, inventory: Manifest | None = None) -> None:
        self.client = client
        self.inventory = inventory
        self.work = work
        self.namespace = namespace_of(client, work)
        self.owner = next((each for each in work.manifests if is_owner(each)), None)
        self.live: dict[Identity, Manifest | None] = {}
        self.refusals: dict[Identity, Refused] = {}
        self.conflicts: set[Identity] = set()
        self.left = Left()

    def rows(self, *, prune: bool = True) -> list[Row]:
        """The row of every object; with *prune* also of those that are rendered no more."""
        self.client.each(self._read, self.work.manifests)
        rows = self.client.each(self._row, self.work.manifests)
        if not prune:
            return rows
        manifests, name = self.work.manifests, self.work.name
        try:
            self.left = left_over(self.client, self.namespace, name, manifests, self.inventory)
            rows += [Row(Change(essence(each), None)) for each in self.left.objects]
        except Refused as error:
            _pass_on(error)
            if rows and not any(each.problem for each in rows):
                told = f"{error.message}: what the spec no longer renders is not known"
                rows[0] = rows[0]._replace(problem=told)
        return rows

    def _read(self, manifest: Manifest) -> None:
        target = self._identity(manifest)
        try:
            self.live[target] = self.client.get(target)
        except Refused as error:
            _pass_on(error)
            self.refusals[target] = error

    def _row(self, manifest: Manifest) -> Row:
        target = self._identity(manifest)
        if target in self.refusals:
            return Row(Change(None, self._rendered(manifest)), self.refusals[target].message)
        live = self.live[target]
        if live is None:
            return self._created(manifest)
        if belongs_to(live) != self.work.name:
            theirs = {**manifest, "metadata": {"name": target.name, "namespace": self.namespace}}
            return Row(Change(theirs, theirs), not_ours(live))
        if self._is_ending(manifest, live):
            return Row(Change(None, self._rendered(manifest)))
        return self._compared(manifest, live)

    def _created(self, manifest: Manifest) -> Row:
        """A new object; whether the cluster would take it is asked all the same."""
        change = Change(None, self._rendered(manifest))
        sent = wanted(manifest, None, self.namespace, self._reference(manifest, None))
        try:
            self.client.apply(sent, self._identity(manifest), dry_run=True)
        except Refused as error:
            _pass_on(error)
            return Row(change, error.message)
        holds_state = is_job(manifest) or manifest["kind"] == "StatefulSet"
        if holds_state and manifest is not self.owner and self._runs():
            return Row(change, lost(manifest))
        return Row(change)

    def _compared(self, manifest: Manifest, live: Manifest, tries: int = _TRIES) -> Row:
        """An object of ours, before and after the apply that the server is asked about."""
        owner = self._reference(manifest, live)
        # The fingerprint stays as it is: what it stands for is told by the fields of the pods.
        sent = wanted(manifest, live, self.namespace, owner, fingerprint_of(live))
        sent, found = self._ask(sent)
        if isinstance(found, Refused):
            return self._refused(sent, live, found)
        moved = found["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"]
        if moved and tries > 1:
            # It changed in between; a difference must be the apply's and not the cluster's.
            newer = self.client.get(self._identity(manifest))
            if newer is None:
                return self._created(manifest)
            return self._compared(manifest, newer, tries - 1)
        before, after = essence(live), _resumed(essence(found), live)
        return Row(Change(before, before if before == after else after))

    def _ask(self, sent: Manifest) -> tuple[Manifest, Manifest | Refused]:
        """What is sent, and the server's answer; yields to Kueue as an apply does."""
        try:
            return sent, self.client.apply(sent, self._identity(sent), dry_run=True)
        except Refused as error:
            _pass_on(error)
            less = _without_yielded(sent, error.refusal)
            return (sent, error) if less == sent else self._ask(less)

    def _refused(self, sent: Manifest, live: Manifest, error: Refused) -> Row:
        """The row of an object that the server does not let be changed so."""
        if error.refusal.conflicts:
            try:
                found = self.client.apply(sent, self._identity(sent), dry_run=True, force=True)
            except Refused as again:
                _pass_on(again)
            else:
                self.conflicts.add(identity(live))
                told = f"{error.message}; `apply --force-conflicts` does this"
                return Row(Change(essence(live), _resumed(essence(found), live)), told)
        sent = without(sent, ["metadata", "uid"])
        change = Change(own(live, sent), _resumed(sent, live))
        if not error.refusal.is_immutable:
            return Row(change, _read_only(error))
        # Our table must account for the refusal, or else an apply would meet it unannounced.
        accounts = any(each.effect is not Effect.in_place for each in change.fields)
        return Row(change, None if accounts else error.message)

    def _reference(self, manifest: Manifest, live: Manifest | None) -> dict[str, str] | None:
        """The owner that an apply would name; what cannot be known stays as it is."""
        if self.owner is None or manifest is self.owner or _outlives(manifest):
            return None
        owner = self.live.get(self._identity(self.owner))
        if owner is not None and belongs_to(owner) == self.work.name:
            return reference(self.owner, owner["metadata"]["uid"])
        known = (live or {}).get("metadata", {}).get("ownerReferences")
        return known[0] if known else reference(self.owner, ANY_UID)

    def _is_ending(self, manifest: Manifest, live: Manifest) -> bool:
        """Whether an object belongs to an earlier run, whose end an apply waits for."""
        if readiness.is_going(live):
            return True
        if self.owner is None or manifest is self.owner or _outlives(manifest):
            return False
        target = self._identity(self.owner)
        owner = self.live.get(target)
        gone = target not in self.refusals and (owner is None or readiness.is_going(owner))
        return gone and bool(live["metadata"].get("ownerReferences"))

    def _runs(self) -> bool:
        if self.owner is None:
            return False
        live = self.live.get(self._identity(self.owner))
        return live is not None and was_started(live) and not readiness.job(live).done

    def rendered(self, target: Identity) -> Manifest | None:
        """What is rendered of an object."""
        return next((each for each in self.work.manifests if self._identity(each) == target), None)

    def _rendered(self, manifest: Manifest) -> Manifest:
        return {**manifest, "metadata": {**manifest["metadata"], "namespace": self.namespace}}

    def _identity(self, manifest: Manifest) -> Identity:
        return identity(manifest)._replace(namespace=self.namespace)


def _pass_on(error: Refused) -> None:
    """Raise what is no answer about one object: nobody is known, or nothing answers."""
    if error.refusal.is_no_answer:
        raise error


def _read_only(error: Refused) -> str:
    return f"{error.message}; {_BY_READING}"


def _outlives(manifest: Manifest) -> bool:
    return bool(manifest["kind"] == "PersistentVolumeClaim")


def _without_yielded(sent: Manifest, refusal: Refusal) -> Manifest:
    """*sent* without what Kueue has set, and without what we set ourselves to stop pservers."""
    ours = [each.field for each in refusal.conflicts if each.manager == MANAGER]
    if ours and len(ours) == len(refusal.conflicts):
        for each in ours:
            sent = without(sent, each.split("."))
        return sent
    return without_kueues(sent, kueues(sent, refusal))


def _resumed(after: Manifest, live: Manifest) -> Manifest:
    """*after* as an apply leaves it: a Job that an apply holds back goes on at its end."""
    if not is_ours_to_resume(live):
        return after
    return {**after, "spec": {**after["spec"], "suspend": False}}
