"""Pods that were stopped from outside: evicted, preempted, or lost with their node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.render.manifest import Manifest

_AMOUNT = r"[\d.]+[A-Za-z]{0,2}"
_PRESSURE = re.compile(r"low on resource: (?P<what>[a-z-]{1,30})\b")
_USED = re.compile(
    rf"Container (?P<name>[a-z0-9-]+) was using (?P<used>{_AMOUNT}), request is (?P<asked>{_AMOUNT})"
)
_EXCEEDED = (
    (
        re.compile(
            rf'Usage of EmptyDir volume "(?P<name>[a-z0-9-]+)" exceeds the limit "({_AMOUNT})"'
        ),
        "volume {} exceeded its limit of {}",
    ),
    (
        re.compile(
            rf'Container (?P<name>[a-z0-9-]+) exceeded its local ephemeral storage limit "({_AMOUNT})"'
        ),
        "container {} exceeded its ephemeral storage limit of {}",
    ),
    (
        re.compile(
            rf"Pod (ephemeral local storage) usage exceeds the total limit of containers ({_AMOUNT})"
        ),
        "{} usage exceeded its limit of {}",
    ),
)
_REASONS = {
    "Preempting": "preempted by a critical pod on its node",
    "NodeLost": "lost with its node",
    "NodeShutdown": "its node was shut down",
    "Terminated": "its node was shut down",
    "Shutdown": "its node was shut down",
    "NodeAffinity": "its node no longer matches its node affinity",
    "UnexpectedAdmissionError": "rejected by its node",
    "DeadlineExceeded": "exceeded its deadline",
}
_DISRUPTIONS = {
    "PreemptionByScheduler": "preempted by a pod of higher priority",
    "DeletionByTaintManager": "removed from its node, which was tainted or lost",
    "EvictionByEvictionAPI": "evicted by a node drain or another eviction request",
    "DeletionByPodGC": "lost with its node",
}
_OUT_OF = re.compile(r"OutOf(?P<what>[A-Za-z0-9./-]{1,60})\Z")


def cause(pod: Manifest) -> str | None:
    """Say what stopped a pod from outside; None if it ended on its own."""
    status = pod.get("status") or {}
    reason = str(status.get("reason") or "")
    if reason == "Evicted":
        return _evicted(str(status.get("message") or ""), pod)
    if match := _OUT_OF.match(reason):
        return f"its node had no {match['what']} left"
    if reason in _REASONS:
        return _REASONS[reason]
    known = disruption(pod)
    return _DISRUPTIONS.get(str(known.get("reason"))) if known else None


def disruption(pod: Manifest) -> Mapping[str, Any] | None:
    """Return the condition that marks a pod as disrupted."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
            disrupted: Mapping[str, Any] = condition
            return disrupted
    return None


def _evicted(message: str, pod: Manifest) -> str:
    node = (pod.get("spec") or {}).get("nodeName")
    by = f"evicted by {node or 'its node'}"
    for pattern, template in _EXCEEDED:
        if match := pattern.search(message):
            return f"{by}: {template.format(*match.groups())}"
    pressure = _PRESSURE.search(message)
    if pressure is None:
        return by
    sentence = f"{by}, which was low on {pressure['what']}"
    used = _USED.search(message)
    return f"{sentence}: used {used['used']}, requested {used['asked']}" if used else sentence
