"""Pods that did not end by themselves: evicted, preempted, or gone with their node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.manifest import Manifest

_AMOUNT = r"[\d.]+[A-Za-z]{0,2}"
_PRESSURE = re.compile(r"low on resource: (?P<what>[a-z-]{1,30})\b")
_USED = re.compile(
    rf"Container (?P<name>[a-z0-9-]+) was using (?P<used>{_AMOUNT}), request is (?P<asked>{_AMOUNT})"
)
_TOO_MUCH = (
    (
        re.compile(
            rf'Usage of EmptyDir volume "(?P<name>[a-z0-9-]+)" exceeds the limit "({_AMOUNT})"'
        ),
        "its volume {} is over its limit of {}",
    ),
    (
        re.compile(
            rf'Container (?P<name>[a-z0-9-]+) exceeded its local ephemeral storage limit "({_AMOUNT})"'
        ),
        "its container {} wrote more to the disk than its limit of {}",
    ),
    (
        re.compile(
            rf"Pod (ephemeral local storage) usage exceeds the total limit of containers ({_AMOUNT})"
        ),
        "its {} is over its limit of {}",
    ),
)
_REASONS = {
    "Preempting": "preempted by a pod that its node cannot do without",
    "NodeLost": "lost with its node",
    "NodeShutdown": "its node was shut down",
    "Terminated": "its node was shut down",
    "Shutdown": "its node was shut down",
    "NodeAffinity": "its node does not match it any more",
    "UnexpectedAdmissionError": "its node did not admit it",
    "DeadlineExceeded": "its time was over",
}
_DISRUPTIONS = {
    "PreemptionByScheduler": "preempted by a pod of higher priority",
    "DeletionByTaintManager": "removed from its node, which got a taint or was lost",
    "EvictionByEvictionAPI": "evicted: its node was drained, or somebody asked for it",
    "DeletionByPodGC": "lost with its node",
}
_OUT_OF = re.compile(r"OutOf(?P<what>[A-Za-z0-9./-]{1,60})\Z")


def words(pod: Manifest) -> str | None:
    """What ended a pod from outside; nothing where it ended by itself."""
    status = pod.get("status") or {}
    reason = str(status.get("reason") or "")
    if reason == "Evicted":
        return _evicted(str(status.get("message") or ""), pod)
    if found := _OUT_OF.match(reason):
        return f"its node had no {found['what']} left for it"
    if reason in _REASONS:
        return _REASONS[reason]
    known = disruption(pod)
    return _DISRUPTIONS.get(str(known.get("reason"))) if known else None


def disruption(pod: Manifest) -> Mapping[str, Any] | None:
    """The condition that says that a pod was taken away."""
    for each in (pod.get("status") or {}).get("conditions") or ():
        if each.get("type") == "DisruptionTarget" and each.get("status") == "True":
            found: Mapping[str, Any] = each
            return found
    return None


def _evicted(message: str, pod: Manifest) -> str:
    node = (pod.get("spec") or {}).get("nodeName")
    by = f"evicted by {node or 'its node'}"
    for pattern, told in _TOO_MUCH:
        if found := pattern.search(message):
            return f"{by}: {told.format(*found.groups())}"
    pressure = _PRESSURE.search(message)
    if pressure is None:
        return by
    told = f"{by}, which was low on {pressure['what']}"
    used = _USED.search(message)
    return f"{told}: it used {used['used']} and asked for {used['asked']}" if used else told
