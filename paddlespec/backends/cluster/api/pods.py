"""Read indexes, states of containers, and one-word reasons from what the API server stores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.render.manifest import Manifest

_INDEX_LABELS = ("batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index")
_WORD = re.compile(r"[A-Za-z0-9]{1,60}\Z")


def rank(pod: Manifest) -> int | None:
    """Return the index of a pod within its role; the only pod of a Job has index 0."""
    metadata = pod["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    index = next((marks[label] for label in _INDEX_LABELS if label in marks), "0")
    return int(index) if index.isdecimal() else None


def is_sidecar(pod: Manifest, name: str) -> bool:
    """Whether a container runs beside the others; how it ends says nothing about the pod."""
    return any(
        container.get("name") == name and container.get("restartPolicy") == "Always"
        for container in (pod.get("spec") or {}).get("initContainers") or ()
    )


def statuses(pod: Manifest) -> Iterator[dict[str, Any]]:
    """Yield the states of the containers that decide how a pod ends, in the order they start."""
    status = pod.get("status") or {}
    for container in status.get("initContainerStatuses") or ():
        if not is_sidecar(pod, container["name"]):
            yield container
    yield from status.get("containerStatuses") or ()


def one_word(text: object) -> str | None:
    """Return a controller's reason such as `BackoffLimitExceeded`; None unless it is one word."""
    word = str(text or "")
    return word if _WORD.match(word) else None
