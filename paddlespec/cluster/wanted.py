"""What is sent of an object, and whether the live one is ours: for an apply as for a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cluster.applyset import MEMBER_LABEL, set_id
from paddlespec.cluster.client import MANAGER
from paddlespec.manifest import JOB_LABEL, identity, role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backend import Work
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.refusal import Refusal
    from paddlespec.manifest import Manifest

# To a dry run an owner has a UID even where there is none yet.
ANY_UID = "00000000-0000-0000-0000-000000000000"
FINGERPRINT = "paddlespec.io/spec-hash"
_KUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# What Kueue writes into a Job that it admits; the lists of them are atomic.
_KUEUES = ("spec.suspend", "spec.template.spec.nodeSelector", "spec.template.spec.tolerations")


def namespace_of(client: Client, work: Work) -> str:
    """Where a job is: in the namespace that its manifests name, or in the connection's."""
    spaces = (each["metadata"].get("namespace") for each in work.manifests)
    return next((each for each in spaces if each), None) or client.namespace


def is_job(manifest: Manifest) -> bool:
    """Whether *manifest* is a Job, the only kind that can be created suspended."""
    return (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "Job")


def is_owner(manifest: Manifest) -> bool:
    """Whether *manifest* is the Job whose end is the job's end."""
    return is_job(manifest) and role(manifest) == "trainers"


def is_queued(manifest: Manifest) -> bool:
    """Whether Kueue says when a Job starts."""
    return _KUEUE_LABEL in (manifest["metadata"].get("labels") or {})


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
    """What the spec of a live Job said of its pods, as far as an apply wrote it down."""
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
    trainers' Job bears the fingerprint, and never its pods, which would change with it.
    """
    metadata: dict[str, Any] = {**manifest["metadata"], "namespace": namespace}
    if job := belongs_to(manifest):
        metadata["labels"] = {**metadata["labels"], MEMBER_LABEL: set_id(namespace, job)}
    if fingerprint is not None and is_owner(manifest):
        metadata["annotations"] = {**metadata.get("annotations", {}), FINGERPRINT: fingerprint}
    if live is not None:
        metadata["uid"] = live["metadata"]["uid"]
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    found = {**manifest, "metadata": metadata}
    if is_job(manifest) and not is_queued(manifest) and (live is None or is_ours_to_resume(live)):
        found["spec"] = {"suspend": True, **manifest["spec"]}
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
    Whether a Job is suspended because an apply of ours has not come to its end.

    Resuming is an update, which takes the field from what we applied: a Job that was suspended
    later, by whomever, no longer has it there.
    """
    if not is_job(live) or is_queued(live) or not live["spec"].get("suspend"):
        return False
    return any("f:suspend" in each.get("f:spec", {}) for each in applied_fields(live))


def was_started(owner: Manifest | None) -> bool:
    """Whether the trainers were let go by an earlier apply; of Kueue's we cannot know."""
    return owner is not None and not is_queued(owner) and not is_ours_to_resume(owner)


def lost(manifest: Manifest) -> str:
    """Why a run without this part of it is not mended: what it lost held state."""
    return f"{identity(manifest)} is gone while the trainers run: the run is broken"


def kueues(manifest: Manifest, refusal: Refusal) -> list[str]:
    """The fields that a queued Job yields of those that stand against an apply of it."""
    if not (is_job(manifest) and is_queued(manifest)):
        return []
    return [
        each.field
        for each in refusal.conflicts
        if "kueue" in each.manager and each.field.startswith(_KUEUES)
    ]


def without_kueues(manifest: Manifest, yielded: list[str]) -> Manifest:
    """*manifest* without what Kueue has set."""
    for field in _KUEUES:
        if any(each.startswith(field) for each in yielded):
            manifest = without(manifest, field.split("."))
    return manifest


def without(manifest: Manifest, path: list[str]) -> Manifest:
    """*manifest* without one field."""
    head, *rest = path
    if head not in manifest:
        return manifest
    if rest:
        return {**manifest, head: without(manifest[head], rest)}
    return {key: value for key, value in manifest.items() if key != head}


def essence(live: Manifest) -> Manifest:
    """An object without what changes by itself."""
    passing = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in live["metadata"].items() if key not in passing}
    rest = {key: value for key, value in live.items() if key != "status"}
    return {**rest, "metadata": metadata}
