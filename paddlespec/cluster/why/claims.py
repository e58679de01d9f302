"""Claims whose volume is not there yet, or never will be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.cluster.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_PROVISIONER = re.compile(r"[a-z0-9][a-z0-9./-]{0,120}\Z")
# Volumes of this class are made by hand, and bound when one fits.
_BY_HAND = "kubernetes.io/no-provisioner"


def unbound(evidence: Evidence) -> Reason | None:
    """The first claim that keeps a pod from being placed."""
    waiting = [each for each in evidence.pods if not (each.get("spec") or {}).get("nodeName")]
    wanted = dict.fromkeys(name for each in waiting for name in _names(each))
    if not wanted:
        return None
    listed = evidence.ask.find("", "PersistentVolumeClaim")
    if listed is None:
        return None
    there = {each["metadata"]["name"]: each for each in listed}
    for name in wanted:
        if name not in there:
            return Reason(f"there is no claim {name} in namespace {evidence.namespace}")
        if told := _told(evidence, there[name]):
            return told
    return None


def _told(evidence: Evidence, claim: Manifest) -> Reason | None:
    name, phase = claim["metadata"]["name"], (claim.get("status") or {}).get("phase", "Pending")
    if phase == "Lost":
        return Reason(f"the claim {name} has lost its volume")
    if phase == "Bound":
        return None
    wanted = claim["spec"].get("storageClassName")
    classes = evidence.ask.find("storage.k8s.io", "StorageClass")
    waits = f"the claim {name} waits for a volume"
    size = (claim["spec"].get("resources") or {}).get("requests", {}).get("storage")
    shown = (f"PersistentVolumeClaim/{name} is {phase}" + (f", of {size}" if size else ""),)
    if wanted == "":
        return Reason(f"{waits}: it names no storage class, so somebody has to make one", shown)
    if classes is None:
        return Reason(waits + (f" of storage class {wanted}" if wanted else ""), shown)
    known = {each["metadata"]["name"]: each for each in classes}
    if wanted is None:
        if any(_is_default(each) for each in classes):
            return Reason(waits, shown)
        return Reason(f"{waits}: it names no storage class, and there is no default one", shown)
    if wanted not in known:
        there = ", ".join(sorted(known)) or "none"
        told = f"{waits}: there is no storage class {wanted}"
        return Reason(told, (*shown, f"storage classes: {there}"))
    return _provided(evidence, claim, known[wanted], waits, shown)


def _provided(
    evidence: Evidence, claim: Manifest, wanted: Manifest, waits: str, shown: tuple[str, ...]
) -> Reason | None:
    name, provisioner = wanted["metadata"]["name"], str(wanted.get("provisioner") or "")
    if provisioner == _BY_HAND:
        return Reason(f"{waits}: those of storage class {name} are made by hand", shown)
    events = evidence.ask.events(claim["metadata"]["uid"])
    if any(each.get("reason") == "ProvisioningFailed" for each in events):
        return Reason(f"{waits}: its provisioner failed", (*shown, _by(name, provisioner)))
    if wanted.get("volumeBindingMode") == "WaitForFirstConsumer":
        return None  # it waits for the pod, not the pod for it
    return Reason(f"{waits} of storage class {name}", (*shown, _by(name, provisioner)))


def _by(name: str, provisioner: str) -> str:
    known = provisioner if _PROVISIONER.match(provisioner) else "unknown"
    return f"StorageClass/{name} has the provisioner {known}"


def _is_default(storage_class: Manifest) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return bool(annotations.get(_DEFAULT) == "true")


def _names(pod: Manifest) -> Iterator[str]:
    for each in (pod.get("spec") or {}).get("volumes") or ():
        if source := each.get("persistentVolumeClaim"):
            yield str(source["claimName"])
