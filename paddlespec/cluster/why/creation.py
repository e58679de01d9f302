"""Pods that a workload may not create: no condition says why, only its events do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.cluster.why import limit_range, quota
from paddlespec.cluster.why.reason import Reason

if TYPE_CHECKING:
    from paddlespec.cluster.why.evidence import Evidence

_NAME = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_PRIORITY = re.compile(rf"no PriorityClass with name (?P<name>{_NAME})")
_SECURITY = re.compile(r'violates PodSecurity "(?P<level>\w+:[\w.]+)"')
_WEBHOOK = re.compile(rf'admission webhook "(?P<name>{_NAME})" denied the request')
_ACCOUNT = re.compile(rf'error looking up service account \S+: serviceaccount "(?P<name>{_NAME})"')


def refused(evidence: Evidence) -> Reason | None:
    """The last refusal of a workload that has fewer pods than it wants."""
    if len(evidence.pods) >= evidence.desired:
        return None
    events = evidence.ask.events(evidence.workload["metadata"]["uid"])
    failed = [each for each in events if each.get("reason") == "FailedCreate"]
    if not failed:
        return None
    known = words(str(failed[-1].get("message") or ""))
    return Reason(
        f"pods cannot be created: {known or 'see its events'}",
        (f"{len(evidence.pods)} of {evidence.desired} {evidence.role} have a pod",),
    )


def words(message: str) -> str | None:
    """Why the server refused a pod, as far as its text has a known form."""
    if told := quota.words(message) or limit_range.words(message):
        return told
    if found := _PRIORITY.search(message):
        return f"there is no priority class {found['name']}"
    if found := _SECURITY.search(message):
        return f'they violate the Pod Security level "{found["level"]}" of the namespace'
    if found := _WEBHOOK.search(message):
        return f'the admission webhook "{found["name"]}" denies them'
    if found := _ACCOUNT.search(message):
        return f"there is no service account {found['name']}"
    return None
