"""Jobs that exceeded their timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.runs.outcome import timed_out
from paddlespec.workloads.live import DEADLINE

if TYPE_CHECKING:
    from paddlespec.backends.cluster.why.evidence import Evidence


def passed(evidence: Evidence) -> Reason | None:
    """Report that a role exceeded its timeout."""
    conditions = (evidence.workload.get("status") or {}).get("conditions") or ()
    for condition in conditions:
        if condition.get("status") == "True" and condition.get("reason") == DEADLINE:
            pods = workloads.pods_of(evidence.workload, evidence.role)
            return Reason(timed_out(pods.deadline if pods else None))
    return None
