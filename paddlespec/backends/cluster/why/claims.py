"""Volume claims that are not bound to a volume."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_PROVISIONER = re.compile(r"[a-z0-9][a-z0-9./-]{0,120}\Z")
# Volumes of this class are created by hand and bound when one fits.
_MANUAL = "kubernetes.io/no-provisioner"


def unbound(evidence: Evidence) -> Reason | None:
    """Find the first claim that keeps a pod from being scheduled."""
    waiting = [pod for pod in evidence.pods if not (pod.get("spec") or {}).get("nodeName")]
    claimed = dict.fromkeys(name for pod in waiting for name in _names(pod))
    if not claimed:
        return None
    listed = evidence.ask.find("", "PersistentVolumeClaim")
    if listed is None:
        return None
    claims = {claim["metadata"]["name"]: claim for claim in listed}
    for name in claimed:
        if name not in claims:
            return Reason(f"volume claim {name} does not exist in namespace {evidence.namespace}")
        if reason := _unbound(evidence, claims[name]):
            return reason
    return None


def _unbound(evidence: Evidence, claim: Manifest) -> Reason | None:
    name, phase = claim["metadata"]["name"], (claim.get("status") or {}).get("phase", "Pending")
    if phase == "Lost":
        return Reason(f"volume claim {name} has lost its volume")
    if phase == "Bound":
        return None
    storage_class = claim["spec"].get("storageClassName")
    classes = evidence.ask.find("storage.k8s.io", "StorageClass")
    waits = f"volume claim {name} is waiting for a volume"
    size = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    shown = (
        f"PersistentVolumeClaim/{name} is {phase}" + (f" and requests {size}" if size else ""),
    )
    if storage_class == "":
        return Reason(
            f"{waits}: its storage class is empty, so a volume must be created by hand", shown
        )
    if classes is None:
        return Reason(
            waits + (f" of storage class {storage_class}" if storage_class else ""), shown
        )
    known = {item["metadata"]["name"]: item for item in classes}
    if storage_class is None:
        if any(_is_default(item) for item in classes):
            return Reason(waits, shown)
        return Reason(f"{waits}: it names no storage class and the cluster has no default", shown)
    if storage_class not in known:
        available = ", ".join(sorted(known)) or "none"
        sentence = f"{waits}: storage class {storage_class} does not exist"
        return Reason(sentence, (*shown, f"available storage classes: {available}"))
    return _provided(evidence, claim, known[storage_class], waits, shown)


def _provided(
    evidence: Evidence, claim: Manifest, storage_class: Manifest, waits: str, shown: tuple[str, ...]
) -> Reason | None:
    name, provisioner = (
        storage_class["metadata"]["name"],
        str(storage_class.get("provisioner") or ""),
    )
    if provisioner == _MANUAL:
        return Reason(f"{waits}: volumes of storage class {name} are created by hand", shown)
    events = evidence.ask.events(claim["metadata"]["uid"])
    if any(event.get("reason") == "ProvisioningFailed" for event in events):
        return Reason(f"{waits}: provisioning failed", (*shown, _by(name, provisioner)))
    if storage_class.get("volumeBindingMode") == "WaitForFirstConsumer":
        return None  # the volume is provisioned once the pod is scheduled
    return Reason(f"{waits} of storage class {name}", (*shown, _by(name, provisioner)))


def _by(name: str, provisioner: str) -> str:
    known = provisioner if _PROVISIONER.match(provisioner) else "unknown"
    return f"provisioner of StorageClass/{name}: {known}"


def _is_default(storage_class: Manifest) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return bool(annotations.get(_DEFAULT) == "true")


def _names(pod: Manifest) -> Iterator[str]:
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        if source := volume.get("persistentVolumeClaim"):
            yield str(source["claimName"])
