"""Pods that fit on no node: find the first obstacle on every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.why import (
    availability,
    labels,
    room,
    scheduler,
    taints,
)
from paddlespec.backends.cluster.why.reason import Reason, some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

_OBSTACLES = (labels, availability, taints, room)
_NOWHERE = "fits on no node"


def fits_nowhere(evidence: Evidence) -> Reason | None:
    """
    Find what must change for a pod to be scheduled.

    Obstacles are tried in order, and only nodes that pass one are tested for the next: the sentence
    is about the nodes that came closest, and the evidence lists them first.
    """
    pod = next((pod for pod in evidence.pods if unplaced(pod)), None)
    nodes = evidence.ask.nodes() if pod is not None else None
    if pod is None or not nodes:
        return None
    lines: list[str] = []
    eligible = nodes
    for kind in _OBSTACLES:
        obstacles = [(node, kind.obstacle(node, pod["spec"])) for node in eligible]
        lines = [*(f"{node.name}: {why}" for node, why in obstacles if why), *lines]
        passed = [node for node, why in obstacles if why is None]
        if not passed:
            return Reason(f"{_NOWHERE}: {kind.sentence(eligible, pod['spec'])}", some(lines))
        eligible = passed
    return None


def as_the_scheduler_says(evidence: Evidence) -> Reason | None:
    """Fall back to the scheduler's message: nodes are unreadable, or one has no known obstacle."""
    condition = next((condition for pod in evidence.pods if (condition := unplaced(pod))), None)
    return Reason(summary(condition)) if condition else None


def unplaced(pod: Manifest) -> Mapping[str, Any] | None:
    """Return the condition of a pod that the scheduler could not place."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return condition if condition.get("reason") == "Unschedulable" else None
    return None


def summary(condition: Mapping[str, Any]) -> str:
    """Summarize the condition in one line."""
    message = scheduler.summary(condition.get("message"))
    return f"{_NOWHERE}: {message}" if message else _NOWHERE
