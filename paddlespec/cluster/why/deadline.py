"""A timeout that has passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cluster.why.reason import Reason
from paddlespec.outcome import timed_out

if TYPE_CHECKING:
    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest


REASON = "DeadlineExceeded"


def passed(evidence: Evidence) -> Reason | None:
    """The end of a Job that took too long."""
    for each in (evidence.workload.get("status") or {}).get("conditions") or ():
        if each.get("status") == "True" and each.get("reason") == REASON:
            return Reason(words(evidence.workload))
    return None


def words(workload: Manifest) -> str:
    """How long it was allowed to take, as far as the Job says so."""
    return timed_out(workload["spec"].get("activeDeadlineSeconds"))
