"""What is sent of an object, and whether the live one is ours: for an apply as for a comparison."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.backends.cluster.api.client import MANAGER
from paddlespec.backends.cluster.change.applyset import MEMBER_LABEL, set_id
from paddlespec.render.manifest import JOB_LABEL, identity
from paddlespec.workloads.roles import without as _without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.api.refusal import Refusal
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Work
    from paddlespec.workloads import Switch

# To a dry run an owner has a UID even where there is none yet.
ANY_UID = "00000000-0000-0000-0000-000000000000"
FINGERPRINT = "paddlespec.io/spec-hash"
# What Kueue writes into the pods that it admits; these fields are atomic.
_ADMITTED = ("nodeSelector", "tolerations")
_ITEM = re.compile(r'\[name="([^"\]]*)"\]')


def namespace_of(client: Client, work: Work) -> str:
    """Where a job is: in the namespace that its manifests name, or in the connection's."""
    spaces = (each["metadata"].get("namespace") for each in work.manifests)
    return next((each for each in spaces if each), None) or client.namespace


def is_queued(manifest: Manifest) -> bool:
    """Whether Kueue says when a workload starts."""
    return workloads.is_queued(manifest)


def belongs_to(live: Manifest) -> str | None:
    """The job whose part a live object is."""
    name: str | None = (live["metadata"].get("labels") or {}).get(JOB_LABEL)
    return name


def not_ours(live: Manifest) -> str:
    """Why a live object that is not this job's is left alone."""
    belongs = belongs_to(live)
    whose = f'belongs to the job "{belongs}"' if belongs else "is not ours"
    return f"{identity(live)} is there already and {whose}: it stays as it is"


def fingerprint_of(live: Manifest) -> str | None:
    """What the spec of a live workload said of its pods, as far as an apply wrote it down."""
    found: str | None = (live["metadata"].get("annotations") or {}).get(FINGERPRINT)
    return found


def wanted(
    manifest: Manifest,
    live: Manifest | None,
    namespace: str,
    owner: dict[str, str] | None,
    fingerprint: str | None = None,
) -> Manifest:
    """
    What is sent: the rendered object, with what only an apply can know.

    The UID of a live object makes sure that one that vanished is not created again. Only the
    owner of the run bears the fingerprint, and never its pods, which would change with it.
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
    found = {**manifest, "metadata": metadata}
    hold = _hold(manifest)
    if hold and not is_queued(manifest) and (live is None or is_ours_to_resume(live)):
        return hold.stop(found)
    return found


def reference(owner: Manifest, uid: str) -> dict[str, str]:
    """The owner; without blockOwnerDeletion, which needs rights that users may lack."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid,
    }


def applied_fields(live: Manifest) -> Iterator[dict[str, Any]]:
    """The fields of a live object that are ours by an apply, in the form of the API server."""
    for each in live["metadata"].get("managedFields") or ():
        ours = each.get("manager") == MANAGER and each.get("operation") == "Apply"
        if ours and not each.get("subresource"):
            yield each.get("fieldsV1") or {}


def is_ours_to_resume(live: Manifest) -> bool:
    """
    Whether a workload is suspended because an apply of ours has not come to its end.

    Resuming is an update, which takes the field from what we applied: one that was suspended
    later no longer has it there.
    """
    hold = _hold(live)
    if hold is None or is_queued(live) or not hold.is_stopped(live):
        return False
    return any(_names(fields, hold.path) for fields in applied_fields(live))


def resumed(live: Manifest) -> Manifest:
    """A workload as it is once an apply has let it go."""
    hold = _hold(live)
    return hold.start(live) if hold else live


def resume_patch(live: Manifest) -> tuple[str, object]:
    """The field that lets a suspended workload go, as a JSON pointer, and its value."""
    hold = _hold(live)
    assert hold is not None
    return hold.pointer, hold.running


def _hold(manifest: Manifest) -> Switch | None:
    known = workloads.find(manifest)
    return known.KIND.hold if known else None


def _names(fields: dict[str, Any], path: Sequence[str]) -> bool:
    """Whether a field is among those of a managed-fields entry."""
    for part in path:
        if f"f:{part}" not in fields:
            return False
        fields = fields[f"f:{part}"]
    return True


def was_started(owner: Manifest | None) -> bool:
    """Whether the trainers were let go by an earlier apply; of Kueue's we cannot know."""
    return owner is not None and not is_queued(owner) and not is_ours_to_resume(owner)


def lost(manifest: Manifest) -> str:
    """Why a run without this part of it is not mended: what it lost held state."""
    return f"{identity(manifest)} is gone while the trainers run: the run is broken"


def kueues(manifest: Manifest, refusal: Refusal) -> list[str]:
    """The fields that a queued workload yields of those that stand against an apply of it."""
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
    """*manifest* without what Kueue has set."""
    for path in _admitted(manifest):
        if any(_parts(field)[: len(path)] == path for field in yielded):
            manifest = without(manifest, path)
    return manifest


def taken_over(live: Manifest, ours: Manifest, sent: Manifest) -> Iterator[tuple[str, ...]]:
    """The fields of *sent* that Kueue alone owns in *live*, and has only added to.

    *ours* is the part of *live* that is still ours.
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
    """Whether all members or items of *value* are in *current*."""
    if isinstance(value, dict):
        return isinstance(current, dict) and value.items() <= current.items()
    return isinstance(current, list) and all(item in current for item in value)


def _admitted(manifest: Manifest) -> list[tuple[str, ...]]:
    """The fields that Kueue sets when it admits a workload."""
    hold = _hold(manifest)
    found = [hold.path] if hold else []
    for _, pods in workloads.roles([manifest]):
        found += [(*pods.path, "spec", field) for field in _ADMITTED]
    return found


def _parts(field: str) -> tuple[str, ...]:
    """The path of a field as the server writes it; items of lists are addressed by name."""
    return tuple(_ITEM.sub(r".\1", field).lstrip(".").split("."))


def without(manifest: Manifest, path: Sequence[str]) -> Manifest:
    """*manifest* without one field."""
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
    """An object without what changes by itself."""
    passing = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in live["metadata"].items() if key not in passing}
    rest = {key: value for key, value in live.items() if key != "status"}
    return {**rest, "metadata": metadata}
