"""The claims of a namespace and the storage classes of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.capacity.line import Unknown
from paddlespec.capacity.storage import Claim, StorageClass
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.terrain import allowed
from paddlespec.demand import amounts
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_RUNNING = "status.phase=Running"


class Storages(NamedTuple):
    """What there is, and what one may not look at."""

    claims: tuple[Claim, ...]
    classes: tuple[StorageClass, ...]
    unknown: tuple[Unknown, ...]


def storages(client: Client, namespace: str) -> Storages:
    """
    The claims of *namespace*, or of all if it is empty, and the classes.

    How full a claim is only the kubelet of a node knows that has it mounted. It is asked as far as
    one may, which few may.
    """
    claims, classes, pods = client.each(
        lambda each: allowed(lambda: client.find(*each)),
        (
            ("v1", "PersistentVolumeClaim", namespace),
            ("storage.k8s.io/v1", "StorageClass", ""),
            ("v1", "Pod", namespace, "", _RUNNING),
        ),
    )
    unknown = [
        Unknown(what, each.message)
        for what, each in (("claims", claims), ("storage classes", classes))
        if isinstance(each, OperationFailed)
    ]
    found = [] if isinstance(claims, OperationFailed) else [_claim(each) for each in claims]
    if found and not isinstance(pods, OperationFailed):
        used = _used(client, _nodes(pods))
        found = [each._replace(used=used.get((each.namespace, each.name))) for each in found]
    known = [] if isinstance(classes, OperationFailed) else classes
    return Storages(tuple(found), tuple(map(_class, known)), tuple(unknown))


def _claim(live: Manifest) -> Claim:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    requested = amounts((spec.get("resources") or {}).get("requests")).get("storage")
    return Claim(
        live["metadata"]["namespace"],
        live["metadata"]["name"],
        "Deleting" if live["metadata"].get("deletionTimestamp") else status.get("phase", "Pending"),
        amounts(status.get("capacity")).get("storage", requested),
        tuple(spec.get("accessModes") or ()),
        spec.get("storageClassName"),
        spec.get("volumeName"),
    )


def _class(live: Manifest) -> StorageClass:
    notes = live["metadata"].get("annotations") or {}
    return StorageClass(
        live["metadata"]["name"],
        live["provisioner"],
        notes.get(_DEFAULT) == "true",
        bool(live.get("allowVolumeExpansion")),
        live.get("reclaimPolicy") or "Delete",
    )


def _nodes(pods: Iterable[Manifest]) -> list[str]:
    """One node for each claim that is mounted: all of them measure the same."""
    found: dict[tuple[str, str], str] = {}
    for pod in pods:
        for volume in pod["spec"].get("volumes") or ():
            if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                place = (pod["metadata"]["namespace"], claim)
                found.setdefault(place, pod["spec"].get("nodeName", ""))
    return sorted(set(found.values()) - {""})


def _used(client: Client, nodes: list[str]) -> dict[tuple[str, str], Decimal]:
    """What kubelets measure; nothing of those that do not answer."""
    found: dict[tuple[str, str], Decimal] = {}
    for node in nodes:
        try:
            summary = client.kubelet_summary(node)
        except OperationFailed as error:
            if isinstance(error, Refused) and error.refusal.status != 403:
                continue
            return {}  # what one kubelet does not say in all this time, others need not be asked
        for pod in summary.get("pods") or ():
            for volume in pod.get("volume") or ():
                claim = volume.get("pvcRef") or {}
                if claim and volume.get("usedBytes") is not None:
                    found[claim["namespace"], claim["name"]] = quantity(volume["usedBytes"])
    return found
