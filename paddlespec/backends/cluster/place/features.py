"""Read what a cluster offers to jobs: kinds, queues, claims, storage classes, accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.capacity.holding import is_device
from paddlespec.workloads import job_set

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client

# The API group of each target and scheduler, with a kind that stands for the group.
EXTENSIONS = {
    "jobset": (job_set.KIND.group, job_set.KIND.kind),
    "kueue": ("kueue.x-k8s.io", "LocalQueue"),
    "volcano": ("scheduling.volcano.sh", "Queue"),
    "kubeflow": ("kubeflow.org", "PaddleJob"),
    "paddle-operator": ("batch.paddlepaddle.org", "PaddleJob"),
}


def installed(client: Client) -> dict[str, str | None]:
    """Return the served version of each extension; None if it is not installed."""
    return dict(
        zip(EXTENSIONS, client.each(lambda extension: version(client, extension), EXTENSIONS))
    )


def version(client: Client, extension: str) -> str | None:
    """Return the served version of an extension; None if it is not installed."""
    group, kind = EXTENSIONS[extension]
    group_version = client.preferred(group)
    return group_version if group_version and client.serves(group_version, kind) else None


def queues(client: Client) -> list[str]:
    """List the queues that jobs of the namespace can name: its Kueue queues, and all of Volcano's."""
    names = []
    for extension in ("kueue", "volcano"):
        if served := version(client, extension):
            kind = EXTENSIONS[extension][1]
            names += [_name(item) for item in client.find(served, kind, client.namespace)]
    return sorted(set(names))


def claims(client: Client) -> dict[str, dict[str, Any]]:
    """Return the claims of the namespace: phase, and whether they are read-only."""
    claims = client.find("v1", "PersistentVolumeClaim", client.namespace)
    return {
        _name(claim): {
            "phase": str((claim.get("status") or {}).get("phase") or "Pending"),
            "readOnly": (claim.get("spec") or {}).get("accessModes") == ["ReadOnlyMany"],
        }
        for claim in claims
    }


def storage_classes(client: Client) -> list[str]:
    """List the storage classes of the cluster."""
    return sorted(_name(item) for item in client.find("storage.k8s.io/v1", "StorageClass", ""))


def accelerators(client: Client) -> list[str]:
    """List the resources under which nodes offer devices, such as nvidia.com/gpu."""
    return sorted(
        {
            name
            for node in client.find("v1", "Node", "")
            for name in (node.get("status") or {}).get("allocatable") or {}
            if is_device(name)
        }
    )


def allowed(look: Callable[[], Any]) -> Any:
    """Return the result of *look*, or the refusal if the user may not read it."""
    try:
        return look()
    except Refused as error:
        if error.refusal.status not in (403, 404):
            raise
        return error


def _name(live: dict[str, Any]) -> str:
    return str(live["metadata"]["name"])
