"""Volcano gangs, whose pods start all together or not at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.render.manifest import JOB_LABEL

if TYPE_CHECKING:
    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

GROUP = "scheduling.volcano.sh"
_QUEUED, _ADMITTED = "waiting in its queue", "admitted, waiting for resources"
# States that need nothing but time.
PASSING = (_QUEUED, _ADMITTED)
_ALONE = re.compile(r"Pending: (?P<parts>\d+ [A-Z][a-z]+(?:, \d+ [A-Z][a-z]+)*)")
_PART = re.compile(r"(\d+) ([A-Z][a-z]+)")
_PHRASES = {
    "Schedulable": "would fit on their own",
    "Unschedulable": "fit on no node",
    "Undetermined": "were not evaluated",
}


def not_together(evidence: Evidence) -> Reason | None:
    """Find why the gang of a job does not start."""
    if evidence.template.get("schedulerName") != "volcano":
        return None
    job = (evidence.workload["metadata"].get("labels") or {}).get(JOB_LABEL)
    for group in evidence.ask.find(GROUP, "PodGroup") or ():
        if (group["metadata"].get("labels") or {}).get(JOB_LABEL) == job:
            cause = waits_for(group)
            queue = (group.get("spec") or {}).get("queue") or "default"
            members = (group.get("spec") or {}).get("minMember")
            shown = f"PodGroup/{group['metadata']['name']} needs {members} pods at once"
            return Reason(f"{cause} (queue {queue})", (shown,)) if cause else None
    return None


def waits_for(group: Manifest) -> str | None:
    """Say what a gang waits for; None once it runs."""
    status = group.get("status") or {}
    phase = status.get("phase") or "Pending"
    if phase in ("Running", "Completed"):
        return None
    if phase == "Unknown":
        return "only some of its pods are running"
    for condition in status.get("conditions") or ():
        if condition.get("type") == "Unschedulable" and condition.get("status") == "True":
            alone = _alone(str(condition.get("message") or ""))
            return "its pods do not all fit at the same time" + (f": {alone}" if alone else "")
    return _ADMITTED if phase == "Inqueue" else _QUEUED


def _alone(message: str) -> str:
    match = _ALONE.search(message)
    parts = _PART.findall(match["parts"]) if match else []
    return ", ".join(f"{count} {_PHRASES[state]}" for count, state in parts if state in _PHRASES)
