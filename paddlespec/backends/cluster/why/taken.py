"""Replicas that were removed and no longer exist; only events mention them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.runs.outcome import lost

if TYPE_CHECKING:
    from paddlespec.backends.cluster.why.evidence import Evidence

# The reasons are also used for cancelled deletions; the start of the message tells them apart.
_CAUSES = {
    "TaintManagerEviction": (
        re.compile(r"Marking for deletion|deleting pod"),
        "removed from its node, which was tainted or lost",
    ),
    "Preempted": (re.compile(r"Preempted by"), "preempted by a pod of higher priority"),
}


def away(evidence: Evidence) -> Reason | None:
    """Find the first pod of a failed workload that was evicted or preempted."""
    name = evidence.workload["metadata"]["name"]
    began = str(workloads.of(evidence.workload).started(evidence.workload) or "")
    for reason, (beginning, cause) in _CAUSES.items():
        for event in evidence.ask.happened(reason):
            pod = str((event.get("involvedObject") or {}).get("name") or "")
            at = str(event.get("lastTimestamp") or event.get("eventTime") or "")
            own = pod.startswith(f"{name}-") and began <= at
            if own and beginning.match(str(event.get("message") or "")):
                sentence = f"{lost(evidence.role)}: {pod}, {cause}"
                return Reason(sentence, (f"Pod/{pod} {reason} at {at}",))
    return None
