"""The desired form of an object, and whether a live one is ours; for apply and diff alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.backends.cluster.api.client import MANAGER
from paddlespec.backends.cluster.change.applyset import MEMBER_LABEL, set_id
from paddlespec.render.manifest import JOB_LABEL, identity
from paddlespec.render.pod_settings import is_users
from paddlespec.workloads.roles import replaced
from paddlespec.workloads.roles import without as _without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.api.refusal import Refusal
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Work
    from paddlespec.workloads import RolePods, Switch

# Stands for the UID of an owner that does not exist yet, in dry runs.
ANY_UID = "00000000-0000-0000-0000-000000000000"
FINGERPRINT = "paddlespec.io/spec-hash"
# Fields that Kueue sets in the pods it admits; they are atomic.
_ADMITTED = ("nodeSelector", "tolerations")
_ITEM = re.compile(r'\[name="([^"\]]*)"\]')


def namespace_of(client: Client, work: Work) -> str:
    """Return the namespace of a job: that of its manifests, or else the connection's."""
    spaces = (manifest["metadata"].get("namespace") for manifest in work.manifests)
    return next((space for space in spaces if space), None) or client.namespace


def is_queued(manifest: Manifest) -> bool:
    """Report whether Kueue decides when a workload starts."""
    return workloads.is_queued(manifest)


def belongs_to(live: Manifest) -> str | None:
    """Return the job that a live object belongs to."""
    name: str | None = (live["metadata"].get("labels") or {}).get(JOB_LABEL)
    return name


def not_ours(live: Manifest) -> str:
    """Say why a live object of another owner is left alone."""
    belongs = belongs_to(live)
    whose = f'belongs to the job "{belongs}"' if belongs else "was not created by paddlespec"
    return f"{identity(live)} already exists and {whose}; it is not changed"


def fingerprint_of(live: Manifest) -> str | None:
    """Return the fingerprint of the pod spec that an apply recorded on a live workload."""
    value: str | None = (live["metadata"].get("annotations") or {}).get(FINGERPRINT)
    return value


def desired_object(
    manifest: Manifest,
    live: Manifest | None,
    namespace: str,
    owner: dict[str, str] | None,
    fingerprint: str | None = None,
) -> Manifest:
    """
    Return the object to send: the rendered one, plus what is known only at apply time.

    The UID of a live object ensures that one deleted meanwhile is not created again. Only the owner
    of the run carries the fingerprint; in its pods, it would be a change by itself.
    """
    metadata: dict[str, Any] = {**manifest["metadata"], "namespace": namespace}
    if job := belongs_to(manifest):
        metadata["labels"] = {**metadata["labels"], MEMBER_LABEL: set_id(namespace, job)}
    if fingerprint is not None and workloads.is_owner(manifest):
        metadata["annotations"] = {**metadata.get("annotations", {}), FINGERPRINT: fingerprint}
    if live is not None:
        metadata["uid"] = live["metadata"]["uid"]
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    desired = {**manifest, "metadata": metadata}
    if live is not None and workloads.find(live) and not workloads.is_stopped(live):
        desired = _with_labels_of_run(desired, live)
    hold = _hold(manifest)
    if hold and not is_queued(manifest) and (live is None or is_ours_to_resume(live)):
        return hold.stop(desired)
    return desired


def _with_labels_of_run(desired: Manifest, live: Manifest) -> Manifest:
    """
    Return *desired* with the user's pod labels of *live*.

    The labels of a job are also those of its pods, which cannot change while they run. A new label
    must not replace a run, so pods get it with the next one.
    """
    current = {pods.role: _labels(pods) for _, pods in workloads.roles([live])}
    for _, pods in workloads.roles([desired]):
        if pods.role in current:
            own = {key: value for key, value in _labels(pods).items() if not is_users(key)}
            kept = {key: value for key, value in current[pods.role].items() if is_users(key)}
            desired = replaced(desired, (*pods.path, "metadata", "labels"), {**kept, **own})
    return desired


def _labels(pods: RolePods) -> dict[str, str]:
    labels: dict[str, str] = (pods.template.get("metadata") or {}).get("labels") or {}
    return labels


def reference(owner: Manifest, uid: str) -> dict[str, str]:
    """Return an owner reference; blockOwnerDeletion needs rights that users may lack."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid,
    }


def applied_fields(live: Manifest) -> Iterator[dict[str, Any]]:
    """Yield the fields of a live object that we applied, as `fieldsV1` of the API server."""
    for entry in live["metadata"].get("managedFields") or ():
        ours = entry.get("manager") == MANAGER and entry.get("operation") == "Apply"
        if ours and not entry.get("subresource"):
            yield entry.get("fieldsV1") or {}


def is_ours_to_resume(live: Manifest) -> bool:
    """
    Report whether a workload is suspended because one of our applies was interrupted.

    Resuming is an update, which removes the field from those we applied. If the workload was
    suspended later, the field is therefore not among them.
    """
    hold = _hold(live)
    if hold is None or is_queued(live) or not hold.is_stopped(live):
        return False
    return any(_names(fields, hold.path) for fields in applied_fields(live))


def resumed(live: Manifest) -> Manifest:
    """Return a workload in the state after an apply has resumed it."""
    hold = _hold(live)
    return hold.start(live) if hold else live


def resume_patch(live: Manifest) -> tuple[str, object]:
    """Return the field that resumes a workload, as a JSON pointer, and its value."""
    hold = _hold(live)
    assert hold is not None
    return hold.pointer, hold.running


def _hold(manifest: Manifest) -> Switch | None:
    known = workloads.find(manifest)
    return known.KIND.hold if known else None


def _names(fields: dict[str, Any], path: Sequence[str]) -> bool:
    """Report whether a managed-fields entry contains a field."""
    for part in path:
        if f"f:{part}" not in fields:
            return False
        fields = fields[f"f:{part}"]
    return True


def was_started(owner: Manifest | None) -> bool:
    """Report whether an earlier apply started the trainers; false if Kueue starts them."""
    return owner is not None and not is_queued(owner) and not is_ours_to_resume(owner)


def lost(manifest: Manifest) -> str:
    """Say why a run that has lost *manifest* is not repaired: the lost object held state."""
    return (
        f"{identity(manifest)} no longer exists while the trainers are running: the run is broken"
    )


def kueues(manifest: Manifest, refusal: Refusal) -> list[str]:
    """Return the conflicting fields of a queued workload that are left to Kueue."""
    if not (workloads.ends(manifest) and is_queued(manifest)):
        return []
    admitted = _admitted(manifest)
    return [
        conflict.field
        for conflict in refusal.conflicts
        if "kueue" in conflict.manager
        and any(_parts(conflict.field)[: len(path)] == path for path in admitted)
    ]


def without_kueues(manifest: Manifest, yielded: Iterable[str]) -> Manifest:
    """Return *manifest* without the fields that Kueue has set."""
    for path in _admitted(manifest):
        if any(_parts(field)[: len(path)] == path for field in yielded):
            manifest = without(manifest, path)
    return manifest


def taken_over(live: Manifest, ours: Manifest, sent: Manifest) -> Iterator[tuple[str, ...]]:
    """
    Yield the fields of *sent* that only Kueue owns in *live*, and to which it has only added.

    *ours* is the part of *live* that we still own.
    """
    if not is_queued(sent):
        return
    current, owned = (
        {pods.role: pods.pod for _, pods in workloads.roles([manifest])}
        for manifest in (live, ours)
    )
    for _, pods in workloads.roles([sent]):
        for field in _ADMITTED:
            value = pods.pod.get(field)
            is_owned = field in owned.get(pods.role, {})
            if value and not is_owned and _holds(current.get(pods.role, {}).get(field), value):
                yield (*pods.path, "spec", field)


def _holds(current: Any, value: Any) -> bool:
    """Report whether *current* contains all members or items of *value*."""
    if isinstance(value, dict):
        return isinstance(current, dict) and value.items() <= current.items()
    return isinstance(current, list) and all(item in current for item in value)


def _admitted(manifest: Manifest) -> list[tuple[str, ...]]:
    """Return the fields that Kueue sets when it admits a workload."""
    hold = _hold(manifest)
    paths = [hold.path] if hold else []
    for _, pods in workloads.roles([manifest]):
        paths += [(*pods.path, "spec", field) for field in _ADMITTED]
    return paths


def _parts(field: str) -> tuple[str, ...]:
    """Split a field path of the server; list items are addressed by name."""
    return tuple(_ITEM.sub(r".\1", field).lstrip(".").split("."))


def without(manifest: Manifest, path: Sequence[str]) -> Manifest:
    """Return *manifest* without one field."""
    return _without(manifest, tuple(path))


def is_adopted(live: Manifest) -> bool:
    """Whether an object of this job was made by another tool, from rendered manifests."""
    return MEMBER_LABEL not in (live["metadata"].get("labels") or {})


def registered(live: Manifest, after: Manifest) -> Manifest:
    """
    Return *live* with the records that an apply adds to an object of another tool.

    They change nothing that runs, so a comparison does not count them.
    """
    metadata, new = live["metadata"], after["metadata"]
    for key, name in (("labels", MEMBER_LABEL), ("annotations", FINGERPRINT)):
        if name in (new.get(key) or {}):
            metadata = {**metadata, key: {**(metadata.get(key) or {}), name: new[key][name]}}
    if "ownerReferences" in new:
        metadata = {"ownerReferences": new["ownerReferences"], **metadata}
    return {**live, "metadata": metadata}


def essence(live: Manifest) -> Manifest:
    """Return an object without the fields that change on their own."""
    passing = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in live["metadata"].items() if key not in passing}
    rest = {key: value for key, value in live.items() if key != "status"}
    return {**rest, "metadata": metadata}
