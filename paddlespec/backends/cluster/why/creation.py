"""Pods that a workload may not create; only its events say why, no condition does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api import limit_range
from paddlespec.backends.cluster.api.admission import missing_priority, pod_security, verdict
from paddlespec.backends.cluster.why import quota
from paddlespec.backends.cluster.why.reason import Reason

if TYPE_CHECKING:
    from paddlespec.backends.cluster.why.evidence import Evidence

_NAME = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_ACCOUNT = re.compile(rf'error looking up service account \S+: serviceaccount "(?P<name>{_NAME})"')


def refused(evidence: Evidence) -> Reason | None:
    """Find why a workload that has too few pods may not create more."""
    if len(evidence.pods) >= evidence.desired:
        return None
    events = evidence.ask.events(evidence.workload["metadata"]["uid"])
    failed = [event for event in events if event.get("reason") == "FailedCreate"]
    if not failed:
        return None
    known = refusal_reason(str(failed[-1].get("message") or ""))
    return Reason(
        "pods cannot be created" + (f": {known}" if known else "; see the job's events"),
        (f"{len(evidence.pods)} of {evidence.desired} {evidence.role} have a pod",),
    )


def refusal_reason(message: str) -> str | None:
    """Say why the server refused a pod; None if its message has no known format."""
    if exceeded := quota.shortage(message) or limit_range.violation(message):
        return exceeded
    if priority := missing_priority(message):
        return f"priority class {priority} does not exist"
    if level := pod_security(message):
        return f"violates Pod Security level {level} of the namespace"
    if ruled := verdict(message):
        fault = ruled.fault and f": {ruled.fault}"
        return (
            f"denied by {ruled.rule}" if fault is None else f"{ruled.rule} cannot be reached{fault}"
        )
    if match := _ACCOUNT.search(message):
        return f"service account {match['name']} does not exist"
    return None
