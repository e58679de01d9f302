"""What a job takes of a namespace: pods in groups of equal ones, and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.manifest import role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.manifest import Manifest

_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# What Volcano takes where a group names none.
_DEFAULT_QUEUE = "default"


class Group(NamedTuple):
    """So many equal pods; `queue` is Kueue's."""

    role: str
    replicas: int
    pod: dict[str, Any]
    queue: str | None = None


class Need(NamedTuple):
    """All that a job takes; `queue` is the queue of Volcano in which all of its pods wait."""

    groups: tuple[Group, ...]
    objects: tuple[Manifest, ...]
    queue: str | None = None


def need(manifests: Sequence[Manifest]) -> Need:
    """What rendered objects take, with those that an apply writes besides them."""
    return Need(
        tuple(_groups(manifests)),
        (*manifests, *_written_by_apply()),
        next(
            (
                each["spec"].get("queue") or _DEFAULT_QUEUE
                for each in manifests
                if each["kind"] == "PodGroup"
            ),
            None,
        ),
    )


def _groups(manifests: Iterable[Manifest]) -> Iterable[Group]:
    for each in manifests:
        if each["kind"] in ("Job", "StatefulSet"):
            spec, metadata = each["spec"], each["metadata"]
            yield Group(
                role(each) or metadata["name"],
                int(spec.get("replicas") or spec.get("parallelism") or 1),
                spec["template"]["spec"],
                (metadata.get("labels") or {}).get(_QUEUE_LABEL),
            )


def _written_by_apply() -> tuple[Manifest, ...]:
    """The inventory, and the lock while it is held."""
    return (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {}},
    )
