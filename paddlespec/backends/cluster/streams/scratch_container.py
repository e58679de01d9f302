"""
Manage scratch containers on a cluster.

A scratch container is a Job with a deadline, so it is removed even if the client is gone. The Job
owns everything else that the container needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change.desired import reference
from paddlespec.backends.cluster.observe import members, readiness
from paddlespec.backends.cluster.streams.job_logs import main_container
from paddlespec.backends.cluster.streams.remote_exec import Place
from paddlespec.backends.cluster.why import creation, ended
from paddlespec.backends.cluster.why.ask import Asking
from paddlespec.backends.cluster.why.evidence import Evidence
from paddlespec.render.manifest import (
    JOB_LABEL,
    Identity,
    Manifest,
    identity,
)
from paddlespec.runs.failures import NotFound, OperationFailed
from paddlespec.runs.values import Progress
from paddlespec.targets.shell import SHELL_LABEL, Source, workload
from paddlespec.workloads import job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.cluster.api.client import Client


class Shell(NamedTuple):
    """The Job of an existing scratch container."""

    identity: Identity
    uid: str

    @property
    def name(self) -> str:
        return self.identity.name


class Look(NamedTuple):
    """The progress of a scratch container, and its pod once it runs."""

    progress: Progress
    place: Place | None = None


def find(client: Client, name: str) -> Shell | None:
    """Return the scratch container *name*, if it exists."""
    live = client.get(job.KIND.identity(client.namespace, name))
    if live is None or SHELL_LABEL not in (live["metadata"].get("labels") or {}):
        return None
    return Shell(identity(live), live["metadata"]["uid"])


def source_of(client: Client, job: str, role: str) -> Source:
    """Return the live object that runs *role* of a job."""
    selector = f"{JOB_LABEL}={job}"
    live = members.find(client, client.namespace, selector).workloads
    source = workload([item for item in live if not workloads.is_child(item)], role)
    if source is None:
        if live:
            raise NotFound(f"{job} has no {role}")
        raise NotFound(
            f"job {job} does not exist in namespace {client.namespace}",
            "give the path of its spec: paddlespec shell PATH",
        )
    return source


def check_claims(client: Client, manifests: Sequence[Manifest]) -> None:
    """Refuse claims of a job that was never applied, for which the pod would wait forever."""
    for manifest in manifests:
        if (
            manifest["kind"] != "PersistentVolumeClaim"
            or client.get(identity(manifest)) is not None
        ):
            continue
        raise NotFound(
            f"{identity(manifest)} does not exist; it is created with the job",
            "create it with `paddlespec apply`; `paddlespec kill` keeps it",
        )


def create(client: Client, manifests: Sequence[Manifest]) -> Shell:
    """Create a Job and the objects that it owns."""
    job, *others = manifests
    live = _created(client, job)
    shell = Shell(identity(live), live["metadata"]["uid"])
    try:
        for manifest in others:
            owned = {**manifest["metadata"], "ownerReferences": [reference(live, shell.uid)]}
            _created(client, {**manifest, "metadata": owned})
    except BaseException:  # an interrupt must not leave a part of it behind
        remove(client, shell)
        raise
    return shell


def remove(client: Client, shell: Shell) -> None:
    """Delete the Job and everything it owns."""
    with client.tidying():
        client.delete(shell.identity, shell.uid)


def look(client: Client, shell: Shell) -> Look:
    """Return its progress; raises `OperationFailed` if it has finished."""
    live = client.get(shell.identity)
    if live is None or live["metadata"]["uid"] != shell.uid:
        raise NotFound("the container no longer exists")
    space = shell.identity.namespace or client.namespace
    pods = client.find("v1", "Pod", space, f"batch.kubernetes.io/controller-uid={shell.uid}")
    progress = workloads.progress(live)
    if progress.done or not progress.ok:
        why = [ended.ending(pod) for pod in pods if readiness.pod(pod).done]
        message = progress.message.removeprefix("failed: ").removeprefix("failing: ")
        late = "timeout" in message or not why
        raise OperationFailed(f"the container has finished: {message if late else why[0]}")
    if not pods:
        return Look(Progress(False, True, _refused(client, live) or progress.message))
    progress = readiness.pod(pods[0])
    if not (progress.done and progress.ok):
        return Look(progress)
    return Look(progress, Place(space, pods[0]["metadata"]["name"], main_container(pods[0])))


def runs(client: Client, shell: Shell) -> bool:
    """Report whether it is running, so that a shell can be opened in it."""
    try:
        return look(client, shell).place is not None
    except OperationFailed:
        return False


def _created(client: Client, manifest: Manifest) -> Manifest:
    """Create an object; names are random, so an existing one was created by an earlier attempt."""
    try:
        return client.create(manifest, identity(manifest))
    except Refused as error:
        live = client.get(identity(manifest)) if error.refusal.status == 409 else None
        if live is None:
            raise
        return live


def _refused(client: Client, live: Manifest) -> str | None:
    """Say why a Job has no pod, if its events report it."""
    space = live["metadata"]["namespace"]
    reason = creation.refused(Evidence(space, "shells", live, (), Asking(client, space)))
    return reason.sentence if reason else None
