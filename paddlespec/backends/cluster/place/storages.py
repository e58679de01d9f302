"""Read the volume claims of a namespace and the storage classes of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.place.features import allowed
from paddlespec.capacity.demand import amounts
from paddlespec.capacity.line import Unknown
from paddlespec.capacity.storage import Claim, StorageClass, Storages
from paddlespec.quantity import quantity
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_RUNNING = "status.phase=Running"


def storages(client: Client, namespace: str) -> Storages:
    """
    List the claims of *namespace*, or of all if it is empty, and the storage classes.

    The usage of a claim is known only to the kubelets of nodes that mount it. They are asked if the
    user has the right, which is rare.
    """
    claims, classes, pods = client.each(
        lambda query: allowed(lambda: client.find(*query)),
        (
            ("v1", "PersistentVolumeClaim", namespace),
            ("storage.k8s.io/v1", "StorageClass", ""),
            ("v1", "Pod", namespace, "", _RUNNING),
        ),
    )
    unknown = [
        Unknown(what, answer.message)
        for what, answer in (("claims", claims), ("storage classes", classes))
        if isinstance(answer, OperationFailed)
    ]
    result = [] if isinstance(claims, OperationFailed) else [_claim(claim) for claim in claims]
    if result and not isinstance(pods, OperationFailed):
        used = _used(client, _nodes(pods))
        result = [claim._replace(used=used.get((claim.namespace, claim.name))) for claim in result]
    known = [] if isinstance(classes, OperationFailed) else classes
    return Storages(tuple(result), tuple(map(_class, known)), tuple(unknown))


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
    """Choose one node for each mounted claim: all nodes measure the same usage."""
    nodes: dict[tuple[str, str], str] = {}
    for pod in pods:
        for volume in pod["spec"].get("volumes") or ():
            if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                place = (pod["metadata"]["namespace"], claim)
                nodes.setdefault(place, pod["spec"].get("nodeName", ""))
    return sorted(set(nodes.values()) - {""})


def _used(client: Client, nodes: list[str]) -> dict[tuple[str, str], Decimal]:
    """Return what kubelets measure; those that do not respond are skipped."""
    used: dict[tuple[str, str], Decimal] = {}
    for node in nodes:
        try:
            summary = client.kubelet_summary(node)
        except OperationFailed as error:
            if isinstance(error, Refused) and error.refusal.status != 403:
                continue
            return {}  # if one kubelet takes this long, the others are not asked
        for pod in summary.get("pods") or ():
            for volume in pod.get("volume") or ():
                claim = volume.get("pvcRef") or {}
                if claim and volume.get("usedBytes") is not None:
                    used[claim["namespace"], claim["name"]] = quantity(volume["usedBytes"])
    return used
