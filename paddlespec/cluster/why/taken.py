"""Replicas that were taken away and are gone: only events remember them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.cluster.why.reason import Reason
from paddlespec.outcome import lost

if TYPE_CHECKING:
    from paddlespec.cluster.why.evidence import Evidence

# Only a beginning of the text tells that a pod really had to go.
_CAUSES = {
    "TaintManagerEviction": (
        re.compile(r"Marking for deletion|deleting pod"),
        "removed from its node, which got a taint or was lost",
    ),
    "Preempted": (re.compile(r"Preempted by"), "preempted by a pod of higher priority"),
}


def away(evidence: Evidence) -> Reason | None:
    """The first pod of a failed workload that somebody else removed."""
    name = evidence.workload["metadata"]["name"]
    began = str((evidence.workload.get("status") or {}).get("startTime") or "")
    for reason, (beginning, words) in _CAUSES.items():
        for each in evidence.ask.happened(reason):
            pod = str((each.get("involvedObject") or {}).get("name") or "")
            at = str(each.get("lastTimestamp") or each.get("eventTime") or "")
            own = pod.startswith(f"{name}-") and began <= at
            if own and beginning.match(str(each.get("message") or "")):
                sentence = f"{lost(evidence.role)}: {pod}, {words}"
                return Reason(sentence, (f"Pod/{pod} {reason} at {at}",))
    return None
