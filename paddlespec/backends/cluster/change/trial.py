"""
Ask whether a cluster would accept a new run, before anything is deleted or created for it.

Dry runs of its objects, and of one pod for each role: limit ranges, Pod Security and priorities
concern pods alone, which a controller creates much later.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change.desired import ANY_UID, desired_object, reference
from paddlespec.render.manifest import Identity, identity
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.values import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.backends.cluster.change.snapshot import Snapshot
    from paddlespec.render.manifest import Manifest
    from paddlespec.workloads.roles import RolePods

_LENGTH = 5


def check(
    snapshot: Snapshot,
    manifests: Iterable[Manifest],
    report: Callable[[Event], None],
    *,
    asked: bool = False,
) -> None:
    """
    Raise `OperationFailed` for the first object or pod that the cluster would not accept.

    *report* receives what a rule says of a pod that controllers may be exempt from. Objects whose names
    are free have been *asked* for already, or not.
    """
    listed = list(manifests)
    trials: list[Callable[[], str | None]] = [
        partial(_try_object, snapshot, manifest)
        for manifest in listed
        if not asked or snapshot.seen(manifest) is not None
    ]
    trials += [
        partial(_try_pod, snapshot, manifest, pods)
        for manifest, pods in workloads.roles(listed)
        if pods.replicas
    ]
    for remark in snapshot.client.each(lambda trial: trial(), trials):
        if remark is not None:
            report(Event(remark))


def _try_object(snapshot: Snapshot, manifest: Manifest) -> str | None:
    """
    Try an object under its own name, or under a free one if that is taken by an earlier run.

    What depends on what is there, such as a quota, does not count then: the earlier run makes room.
    """
    own = identity(manifest)
    is_taken = snapshot.seen(manifest) is not None
    name = _free_name(snapshot, own.name) if is_taken else own.name
    metadata = {**manifest["metadata"], "name": name}
    trial = desired_object({**manifest, "metadata": metadata}, None, snapshot.namespace, None)
    try:
        snapshot.client.apply(trial, identity(trial), dry_run=True)
    except Refused as error:
        refusal = error.refusal
        if refusal.is_no_answer:
            raise
        lasts = refusal.status in (400, 422) or refusal.is_users_fault or refusal.is_rule
        if refusal.refuses_dry_runs or (is_taken and not lasts):
            return None
        message = error.message.replace(f"{own.kind}/{name}", str(own))
        raise OperationFailed(message, error.hint) from None
    return None


def _try_pod(snapshot: Snapshot, manifest: Manifest, pods: RolePods) -> str | None:
    """
    Try a pod as its controller would create it; return what a policy or webhook has against it.

    They may judge by who asks. Without the right to create pods nothing is known.
    """
    name = _free_name(snapshot, manifest["metadata"]["name"])
    owner = {**reference(manifest, ANY_UID), "controller": True}
    metadata = {**pods.template.get("metadata", {}), "name": name, "ownerReferences": [owner]}
    target = Identity("v1", "Pod", snapshot.namespace, name)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pods.pod}
    try:
        snapshot.client.create(pod, target, dry_run=True)
    except Refused as error:
        refusal = error.refusal
        if refusal.is_no_answer:
            raise
        message = error.message.replace(f"Pod/{name}", f"a pod of {identity(manifest)}")
        if refusal.is_rule:
            return None if refusal.refuses_dry_runs else f"{message} when you asked for it"
        if refusal.status == 422 or refusal.is_users_fault:
            raise OperationFailed(message, error.hint) from None
    return None


def _free_name(snapshot: Snapshot, name: str) -> str:
    mark = (snapshot.work.fingerprint or "trial")[:_LENGTH]
    return f"{name[: -_LENGTH - 1] or name[:1]}-{mark}"
