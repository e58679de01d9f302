"""Gangs of Volcano, of which all pods start or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.cluster.why.reason import Reason
from paddlespec.manifest import JOB_LABEL

if TYPE_CHECKING:
    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

GROUP = "scheduling.volcano.sh"
_QUEUED, _ADMITTED = "waits in its queue", "admitted, waits for room"
# What is a matter of time alone.
PASSING = (_QUEUED, _ADMITTED)
_ALONE = re.compile(r"Pending: (?P<parts>\d+ [A-Z][a-z]+(?:, \d+ [A-Z][a-z]+)*)")
_PART = re.compile(r"(\d+) ([A-Z][a-z]+)")
_WORDS = {
    "Schedulable": "would fit alone",
    "Unschedulable": "fit on no node",
    "Undetermined": "were not looked at",
}


def not_together(evidence: Evidence) -> Reason | None:
    """A gang that does not start."""
    pod = evidence.workload["spec"]["template"]["spec"]
    if pod.get("schedulerName") != "volcano":
        return None
    job = (evidence.workload["metadata"].get("labels") or {}).get(JOB_LABEL)
    for each in evidence.ask.find(GROUP, "PodGroup") or ():
        if (each["metadata"].get("labels") or {}).get(JOB_LABEL) == job:
            told = words(each)
            queue = (each.get("spec") or {}).get("queue") or "default"
            members = (each.get("spec") or {}).get("minMember")
            shown = f"PodGroup/{each['metadata']['name']} needs {members} pods at once"
            return Reason(f"{told} (queue {queue})", (shown,)) if told else None
    return None


def words(group: Manifest) -> str | None:
    """What a gang waits for; nothing once it runs."""
    status = group.get("status") or {}
    phase = status.get("phase") or "Pending"
    if phase in ("Running", "Completed"):
        return None
    if phase == "Unknown":
        return "only a part of its pods runs"
    for each in status.get("conditions") or ():
        if each.get("type") == "Unschedulable" and each.get("status") == "True":
            alone = _alone(str(each.get("message") or ""))
            return "not all of its pods fit at the same time" + (f": {alone}" if alone else "")
    return _ADMITTED if phase == "Inqueue" else _QUEUED


def _alone(message: str) -> str:
    found = _ALONE.search(message)
    parts = _PART.findall(found["parts"]) if found else []
    return ", ".join(f"{count} {_WORDS[word]}" for count, word in parts if word in _WORDS)
