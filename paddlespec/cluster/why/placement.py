"""Pods that fit on no node: each node is asked for the first obstacle that it puts in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cluster.why import availability, labels, room, scheduler, taints
from paddlespec.cluster.why.reason import Reason, some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

_OBSTACLES = (labels, availability, taints, room)
_NOWHERE = "fits on no node"


def fits_nowhere(evidence: Evidence) -> Reason | None:
    """
    What would have to change for a pod to be placed.

    Told are the nodes that come closest: what is wrong with the others would not have helped.
    """
    pod = next((each for each in evidence.pods if unplaced(each)), None)
    nodes = evidence.ask.nodes() if pod is not None else None
    if pod is None or not nodes:
        return None
    told: list[str] = []
    left = nodes
    for each in _OBSTACLES:
        found = [(node, each.obstacle(node, pod["spec"])) for node in left]
        told = [*(f"{node.name}: {why}" for node, why in found if why), *told]
        kept = [node for node, why in found if why is None]
        if not kept:
            return Reason(f"{_NOWHERE}: {each.sentence(left, pod['spec'])}", some(told))
        left = kept
    return None


def as_the_scheduler_says(evidence: Evidence) -> Reason | None:
    """Where nodes may not be read, or one of them seems to have no obstacle."""
    found = next((told for each in evidence.pods if (told := unplaced(each))), None)
    return Reason(words(found)) if found else None


def unplaced(pod: Manifest) -> Mapping[str, Any] | None:
    """The condition of a pod that the scheduler could not place."""
    for each in (pod.get("status") or {}).get("conditions") or ():
        if each.get("type") == "PodScheduled" and each.get("status") == "False":
            return each if each.get("reason") == "Unschedulable" else None
    return None


def words(condition: Mapping[str, Any]) -> str:
    """The condition in a line."""
    told = scheduler.summary(condition.get("message"))
    return f"{_NOWHERE}: {told}" if told else _NOWHERE
