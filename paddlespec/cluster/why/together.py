"""Replicas that can only begin together: who is missing, and who says to wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cluster.replicas import rank
from paddlespec.cluster.why.reason import Reason
from paddlespec.last_words import meaning

if TYPE_CHECKING:
    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

_LINES = 5
_WAITS = "waits for the pservers"


def never_started(evidence: Evidence) -> Reason | None:
    """Trainers of a collective job of which some run and some do not."""
    if evidence.mode != "collective" or evidence.role != "trainers":
        return None
    counts = evidence.workload.get("status") or {}
    if counts.get("ready", 0) + counts.get("succeeded", 0) >= evidence.desired:
        return None  # of those that ended the pods may be gone
    begun = {rank(each) for each in evidence.pods if _phase(each) != "Pending"}
    missing = [each for each in range(evidence.desired) if each not in begun]
    if not begun or not missing:
        return None
    first, count = missing[0], len(missing)
    who = f"trainer {first} of {evidence.desired}" + (f" and {count - 1} more" if count > 1 else "")
    verb = "has" if count == 1 else "have"
    return Reason(f"{who} {verb} not started, the others wait for {'it' if count == 1 else 'them'}")


def waits_for_pservers(evidence: Evidence) -> Reason | None:
    """Trainers that look for pservers before they begin."""
    for pod in evidence.pods:
        for each in (pod.get("status") or {}).get("initContainerStatuses") or ():
            running = (each.get("state") or {}).get("running")
            if each.get("name") == "wait-for-pservers" and running is not None:
                return Reason(_WAITS, (f"Pod/{pod['metadata']['name']}",))
    return None


def behind(reason: Reason, others: Reason | None) -> Reason:
    """*reason*, or if that is to wait for the pservers, what keeps these."""
    if reason.sentence != _WAITS or others is None:
        return reason
    return Reason(f"{_WAITS}: {others.sentence}", others.evidence)


def still_waiting(evidence: Evidence) -> Reason | None:
    """Trainers that all run, where the last thing that the first one said is that it waits."""
    if evidence.mode != "collective" or evidence.role != "trainers" or evidence.desired < 2:
        return None
    running = sorted((each for each in evidence.pods if _phase(each) == "Running"), key=_rank)
    if len(running) < evidence.desired:
        return None
    lines = [each for each in evidence.ask.last_lines(running[0], "paddle", _LINES) if each.strip()]
    told = meaning(lines[-1:])
    if told is None or not told.waits:
        return None
    shown = f"Pod/{running[0]['metadata']['name']} wrote this last: {told.quote}"
    return Reason(f"all {len(running)} trainers run, and {told.words}", (shown,))


def _phase(pod: Manifest) -> str:
    return str((pod.get("status") or {}).get("phase") or "Pending")


def _rank(pod: Manifest) -> int:
    return rank(pod) or 0
