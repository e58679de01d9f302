"""What a job needs in a namespace: groups of identical pods, and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.workloads.live import QUEUE_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.render.manifest import Manifest

# The queue of Volcano for pod groups that name none.
_DEFAULT_QUEUE = "default"


class Group(NamedTuple):
    """A number of identical pods; `queue` is their queue of Kueue."""

    role: str
    replicas: int
    pod: dict[str, Any]
    queue: str | None = None


class Need(NamedTuple):
    """Everything a job needs; `queue` is the queue of Volcano in which all its pods wait."""

    groups: tuple[Group, ...]
    objects: tuple[Manifest, ...]
    queue: str | None = None


def need(manifests: Sequence[Manifest]) -> Need:
    """Return what rendered objects need, including the objects that apply adds to them."""
    return Need(
        tuple(_groups(manifests)),
        (*manifests, *_written_by_apply()),
        next(
            (
                manifest["spec"].get("queue") or _DEFAULT_QUEUE
                for manifest in manifests
                if manifest["kind"] == "PodGroup"
            ),
            None,
        ),
    )


def _groups(manifests: Iterable[Manifest]) -> Iterable[Group]:
    for manifest, pods in workloads.roles(manifests):
        metadata = manifest["metadata"]
        queue = (metadata.get("labels") or {}).get(QUEUE_LABEL)
        yield Group(pods.role or metadata["name"], pods.replicas, pods.pod, queue)


def _written_by_apply() -> tuple[Manifest, ...]:
    """List the inventory, and the lock that is held during an apply."""
    return (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {}},
    )
