"""What a cluster offers to jobs: kinds, queues, claims, storage classes, devices of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.holding import is_device
from paddlespec.cluster.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cluster.client import Client

# What serves a target or a scheduler; the first kind stands for all of its group.
EXTENSIONS = {
    "jobset": ("jobset.x-k8s.io", "JobSet"),
    "kueue": ("kueue.x-k8s.io", "LocalQueue"),
    "volcano": ("scheduling.volcano.sh", "Queue"),
    "kubeflow": ("kubeflow.org", "PaddleJob"),
    "paddle-operator": ("batch.paddlepaddle.org", "PaddleJob"),
}


def installed(client: Client) -> dict[str, str | None]:
    """The version of each extension that the cluster serves; nothing where it is not there."""
    return dict(
        zip(EXTENSIONS, client.each(lambda extension: version(client, extension), EXTENSIONS))
    )


def version(client: Client, extension: str) -> str | None:
    """The version in which the cluster serves an extension; nothing where it is not there."""
    group, kind = EXTENSIONS[extension]
    found = client.preferred(group)
    return found if found and client.serves(found, kind) else None


def queues(client: Client) -> list[str]:
    """The queues that jobs of the namespace may name: Kueue's own ones, and all of Volcano's."""
    found = []
    for extension in ("kueue", "volcano"):
        if served := version(client, extension):
            kind = EXTENSIONS[extension][1]
            found += [_name(each) for each in client.find(served, kind, client.namespace)]
    return sorted(set(found))


def claims(client: Client) -> dict[str, dict[str, Any]]:
    """The claims of the namespace: phase, and whether nothing can be written to them."""
    found = client.find("v1", "PersistentVolumeClaim", client.namespace)
    return {
        _name(each): {
            "phase": str((each.get("status") or {}).get("phase") or "Pending"),
            "readOnly": (each.get("spec") or {}).get("accessModes") == ["ReadOnlyMany"],
        }
        for each in found
    }


def storage_classes(client: Client) -> list[str]:
    """The storage classes of the cluster."""
    return sorted(_name(each) for each in client.find("storage.k8s.io/v1", "StorageClass", ""))


def accelerators(client: Client) -> list[str]:
    """The resources by which nodes offer devices, such as nvidia.com/gpu."""
    return sorted(
        {
            name
            for node in client.find("v1", "Node", "")
            for name in (node.get("status") or {}).get("allocatable") or {}
            if is_device(name)
        }
    )


def allowed(look: Callable[[], Any]) -> Any:
    """What *look* finds, or why somebody may not look."""
    try:
        return look()
    except Refused as error:
        if error.refusal.status not in (403, 404):
            raise
        return error


def _name(live: dict[str, Any]) -> str:
    return str(live["metadata"]["name"])
