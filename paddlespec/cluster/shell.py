"""
Scratch containers on a cluster.

Each is a Job with a deadline, so that it goes also when nobody is left to remove it; what else it
needs belongs to that Job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import NotFound, OperationFailed, Progress
from paddlespec.cluster import readiness
from paddlespec.cluster.logs import main_container
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.remote import Place
from paddlespec.cluster.wanted import reference
from paddlespec.cluster.why import creation, ended
from paddlespec.cluster.why.ask import Asking
from paddlespec.cluster.why.evidence import Evidence
from paddlespec.manifest import JOB_LABEL, Identity, Manifest, identity
from paddlespec.targets.shell import SHELL_LABEL, workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.cluster.client import Client


class Shell(NamedTuple):
    """A scratch container that is there: its Job."""

    identity: Identity
    uid: str

    @property
    def name(self) -> str:
        return self.identity.name


class Look(NamedTuple):
    """How far a shell is, and the pod once it runs."""

    progress: Progress
    place: Place | None = None


def find(client: Client, name: str) -> Shell | None:
    """The shell *name*, if there is one."""
    live = client.get(Identity("batch/v1", "Job", client.namespace, name))
    if live is None or SHELL_LABEL not in (live["metadata"].get("labels") or {}):
        return None
    return Shell(identity(live), live["metadata"]["uid"])


def source_of(client: Client, job: str, role: str) -> Manifest:
    """What runs *role* of a job that is there."""
    selector = f"{JOB_LABEL}={job}"
    kinds = (("batch/v1", "Job"), ("apps/v1", "StatefulSet"))
    live = [each for kind in kinds for each in client.find(*kind, client.namespace, selector)]
    found = workload(live, role)
    if found is None:
        told = f"there is no job {job} here" if not live else f"{job} has no {role}"
        hint = "give the path of its spec: paddlespec shell PATH" if not live else None
        raise NotFound(f"{told} in namespace {client.namespace}" if not live else told, hint)
    return found


def check_claims(client: Client, manifests: Sequence[Manifest]) -> None:
    """Refuse what would wait for ever: claims of a job that was never applied."""
    for each in manifests:
        if each["kind"] != "PersistentVolumeClaim" or client.get(identity(each)) is not None:
            continue
        raise NotFound(
            f"{identity(each)} is not there: it is created with the job",
            "paddlespec apply creates it, and kill leaves it",
        )


def create(client: Client, manifests: Sequence[Manifest]) -> Shell:
    """Create a Job, and what belongs to it."""
    job, *others = manifests
    live = _created(client, job)
    shell = Shell(identity(live), live["metadata"]["uid"])
    try:
        for each in others:
            owned = {**each["metadata"], "ownerReferences": [reference(live, shell.uid)]}
            _created(client, {**each, "metadata": owned})
    except BaseException:
        remove(client, shell)
        raise
    return shell


def remove(client: Client, shell: Shell) -> None:
    """Delete it with all that belongs to it."""
    with client.tidying():
        client.delete(shell.identity, shell.uid)


def look(client: Client, shell: Shell) -> Look:
    """How far it is; raises `OperationFailed` when it has ended."""
    live = client.get(shell.identity)
    if live is None or live["metadata"]["uid"] != shell.uid:
        raise NotFound("the container is gone")
    space = shell.identity.namespace or client.namespace
    pods = client.find("v1", "Pod", space, f"batch.kubernetes.io/controller-uid={shell.uid}")
    progress = readiness.job(live)
    if progress.done or not progress.ok:
        why = [ended.ending(each) for each in pods if readiness.pod(each).done]
        told = progress.message.removeprefix("failed: ").removeprefix("failing: ")
        late = "timeout" in told or not why
        raise OperationFailed(f"the container has ended: {told if late else why[0]}")
    if not pods:
        return Look(Progress(False, True, _refused(client, live) or progress.message))
    found = readiness.pod(pods[0])
    if not (found.done and found.ok):
        return Look(found)
    return Look(found, Place(space, pods[0]["metadata"]["name"], main_container(pods[0])))


def runs(client: Client, shell: Shell) -> bool:
    """Whether it can be entered again."""
    try:
        return look(client, shell).place is not None
    except OperationFailed:
        return False


def _created(client: Client, manifest: Manifest) -> Manifest:
    """A new object; names are drawn by lot, so that one that is there is ours, told too late."""
    try:
        return client.create(manifest, identity(manifest))
    except Refused as error:
        live = client.get(identity(manifest)) if error.refusal.status == 409 else None
        if live is None:
            raise
        return live


def _refused(client: Client, live: Manifest) -> str | None:
    """Why a Job has no pod, if its events say so."""
    space = live["metadata"]["namespace"]
    found = creation.refused(Evidence(space, "shells", live, (), Asking(client, space)))
    return found.sentence if found else None
