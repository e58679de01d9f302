"""
Starting a job so that an apply may die at any moment and the next one goes on.

Every Job is created suspended, the trainers' first: it owns all other objects, so that they go
when it goes. Only when all of them are there is it resumed. Whatever dies in between leaves
nothing that runs without limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import Event, Mode, OperationFailed, Run
from paddlespec.cluster import readiness
from paddlespec.cluster.client import MANAGER
from paddlespec.cluster.refusal import Refused
from paddlespec.manifest import JOB_LABEL, identity, role

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Work
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.refusal import Refusal
    from paddlespec.manifest import Identity, Manifest

# To a dry run an owner has a UID even where there is none yet.
_ANY_UID = "00000000-0000-0000-0000-000000000000"
_KUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# What Kueue writes into a Job that it admits; the lists of them are atomic.
_KUEUES = ("spec.suspend", "spec.template.spec.nodeSelector", "spec.template.spec.tolerations")
_LEFTOVERS_SECONDS = 120


class Parts(NamedTuple):
    """The objects of a job by the part that they play when it starts."""

    claims: list[Manifest]
    owner: Manifest | None
    owned: list[Manifest]


def divide(manifests: list[Manifest]) -> Parts:
    """
    Tell the objects apart.

    Claims outlive the job. A StatefulSet cannot be suspended: it comes last, when everything
    before it was accepted.
    """
    claims = [each for each in manifests if each["kind"] == "PersistentVolumeClaim"]
    owner = next((each for each in manifests if is_owner(each)), None)
    owned = [each for each in manifests if each not in claims and each is not owner]
    return Parts(claims, owner, sorted(owned, key=lambda each: each["kind"] == "StatefulSet"))


def is_owner(manifest: Manifest) -> bool:
    """Whether *manifest* is the Job whose end is the job's end."""
    return _is_job(manifest) and role(manifest) == "trainers"


def _is_job(manifest: Manifest) -> bool:
    return (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "Job")


class Start:
    """One apply of one job."""

    def __init__(
        self, client: Client, work: Work, mode: Mode, tell: Callable[[Event], None]
    ) -> None:
        self.client = client
        self.work = work
        self.mode = mode
        self.tell = tell
        self.sent: list[Manifest] = []
        spaces = {each["metadata"].get("namespace") for each in work.manifests}
        named = next((each for each in spaces if each), None)
        self.namespace = named or client.namespace

    def __call__(self) -> Run:
        parts = divide(self.work.manifests)
        if parts.owner is None:
            for each in [*parts.claims, *parts.owned]:
                self._put(each, self._live(each))
            return Run(self.work, self.namespace, None)
        live = self._live(parts.owner)
        if live is not None and readiness.is_going(live) and self.mode is not Mode.client:
            live = None
        if live is None and self.mode is Mode.none:
            self._gone(parts)
        if live is not None and (outcome := readiness.job(live)).done:
            return self._finished(parts.owner, live, outcome.message)
        for each in parts.claims:
            self._put(each, self._live(each))
        owner = self._put(parts.owner, live)
        runs = self._runs(live)
        started = [self._owned(each, owner, runs=runs) for each in parts.owned]
        if self.mode is Mode.none:
            for each in [*started, owner]:
                self._resume(each)
        return Run(self.work, self.namespace, owner["metadata"].get("uid"))

    def _runs(self, live: Manifest | None) -> bool:
        """Whether the trainers were let go by an earlier apply; of Kueue's we cannot know."""
        if live is None or _is_queued(live) or self._is_ours_to_resume(live):
            return False
        if live["spec"].get("suspend"):
            self.tell(Event("was suspended after its start, and stays so", self._named(live)))
        return True

    def _finished(self, owner: Manifest, live: Manifest, outcome: str) -> Run:
        """A run that is over: only what changes no pod may change, and nothing starts again."""
        self._put(owner, live)
        again = f"to run it again: paddlespec delete {self.work.name}, then apply"
        self.tell(Event(f"nothing to do: {self._named(owner)} is over: {outcome}; {again}"))
        return Run(self.work, self.namespace, live["metadata"]["uid"])

    def _owned(self, manifest: Manifest, owner: Manifest, *, runs: bool) -> Manifest:
        live = self._live(manifest)
        if _is_job(manifest) or manifest["kind"] == "StatefulSet":
            self._whole(manifest, live, runs=runs)
        return self._put(manifest, live, owner)

    def _whole(self, manifest: Manifest, live: Manifest | None, *, runs: bool) -> None:
        """Refuse to mend a run that has lost a role: what it lost held state."""
        hint = f"paddlespec delete {self.work.name}, then apply"
        if runs and live is None:
            raise OperationFailed(
                f"{self._named(manifest)} is gone while the trainers run: the run is broken", hint
            )
        if live is not None and _is_job(live) and not (found := readiness.job(live)).ok:
            raise OperationFailed(f"{self._named(manifest)} {found.message}", hint)

    def _live(self, manifest: Manifest) -> Manifest | None:
        """The live object, which must be this job's own."""
        live = self.client.get(self._identity(manifest))
        if live is None:
            return None
        belongs = _belongs_to(live)
        if belongs != self.work.name:
            whose = f'belongs to the job "{belongs}"' if belongs else "is not ours"
            raise OperationFailed(
                f"{self._named(manifest)} is there already and {whose}: it stays as it is",
                "give this job another name, or delete the object",
            )
        return live

    def _put(
        self, manifest: Manifest, live: Manifest | None, owner: Manifest | None = None
    ) -> Manifest:
        """Apply one object, and tell what became of it; returns it as it is then."""
        wanted = self._wanted(manifest, live, owner)
        self.sent.append(wanted)
        if self.mode is Mode.client:
            return live or wanted
        try:
            found = self._apply(wanted)
        except Refused as error:
            raise self._explained(error, manifest, live) from None
        if live is None:
            verb = "created"
        else:
            verb = "unchanged" if _essence(found) == _essence(live) else "changed"
        dry = " (server dry run)" if self.mode is Mode.server else ""
        self.tell(Event(f"{verb}{dry}", self._named(manifest)))
        return found

    def _wanted(
        self, manifest: Manifest, live: Manifest | None, owner: Manifest | None
    ) -> Manifest:
        """
        What is sent: the rendered object, with what only an apply can know.

        The UID of a live object makes sure that one that vanished is not created again.
        """
        metadata: dict[str, Any] = {**manifest["metadata"], "namespace": self.namespace}
        if live is not None:
            metadata["uid"] = live["metadata"]["uid"]
        if owner is not None:
            uid = owner["metadata"].get("uid")
            if uid is None and self.mode is Mode.server:
                uid = _ANY_UID
            if uid is not None:
                metadata["ownerReferences"] = [_reference(owner, uid)]
        wanted = {**manifest, "metadata": metadata}
        if self._suspends(manifest) and (live is None or self._is_ours_to_resume(live)):
            wanted["spec"] = {"suspend": True, **manifest["spec"]}
        return wanted

    def _suspends(self, manifest: Manifest) -> bool:
        """Whether it is we who hold a Job back; with Kueue it is Kueue."""
        return _is_job(manifest) and not _is_queued(manifest)

    def _is_ours_to_resume(self, live: Manifest) -> bool:
        """
        Whether a Job is suspended because an apply of ours has not come to its end.

        Resuming is an update, which takes the field from what we applied: a Job that was
        suspended later, by whomever, no longer has it there.
        """
        if not _is_job(live) or _is_queued(live) or not live["spec"].get("suspend"):
            return False
        return any(
            each.get("manager") == MANAGER
            and each.get("operation") == "Apply"
            and "f:suspend" in each.get("fieldsV1", {}).get("f:spec", {})
            for each in live["metadata"].get("managedFields") or ()
        )

    def _apply(self, wanted: Manifest) -> Manifest:
        target, dry_run = self._identity(wanted), self.mode is Mode.server
        try:
            return self.client.apply(wanted, target, dry_run=dry_run)
        except Refused as error:
            if not (_is_job(wanted) and _is_queued(wanted) and _only_kueues(error.refusal)):
                raise
            yielded = [each.field for each in error.refusal.conflicts]
        for field in _KUEUES:
            if any(each.startswith(field) for each in yielded):
                wanted = _without(wanted, field.split("."))
        self.tell(Event(f"leaves {', '.join(yielded)} to Kueue", self._named(wanted)))
        return self.client.apply(wanted, target, dry_run=dry_run)

    def _resume(self, live: Manifest) -> None:
        """Let a Job go that we hold back; its UID makes sure that it is this one."""
        if not self._is_ours_to_resume(live):
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
        if live is not None and _is_job(live):
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
            if live is None or _belongs_to(live) != self.work.name:
                continue
            if readiness.is_going(live) or live["metadata"].get("ownerReferences"):
                return self._named(each)
        return ""

    def _identity(self, manifest: Manifest) -> Identity:
        return identity(manifest)._replace(namespace=self.namespace)

    def _named(self, manifest: Manifest) -> str:
        return str(identity(manifest))


def _belongs_to(live: Manifest) -> str | None:
    name: str | None = (live["metadata"].get("labels") or {}).get(JOB_LABEL)
    return name


def _is_queued(manifest: Manifest) -> bool:
    return _KUEUE_LABEL in (manifest["metadata"].get("labels") or {})


def _only_kueues(refusal: Refusal) -> bool:
    return bool(refusal.conflicts) and all(
        "kueue" in each.manager and each.field.startswith(_KUEUES) for each in refusal.conflicts
    )


def _without(manifest: Manifest, path: list[str]) -> Manifest:
    head, *rest = path
    if head not in manifest:
        return manifest
    if rest:
        return {**manifest, head: _without(manifest[head], rest)}
    return {key: value for key, value in manifest.items() if key != head}


def _reference(owner: Manifest, uid: str) -> dict[str, str]:
    """The owner; without blockOwnerDeletion, which needs rights that users may lack."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid,
    }


def _essence(live: Manifest) -> Manifest:
    """An object without what changes by itself."""
    passing = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in live["metadata"].items() if key not in passing}
    rest = {key: value for key, value in live.items() if key != "status"}
    return {**rest, "metadata": metadata}
