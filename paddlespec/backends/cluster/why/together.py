"""Replicas that can start only together: which ones are missing, and which ones wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api.pods import rank
from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.runs.failure_text import meaning

if TYPE_CHECKING:
    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

_LINES = 5
_WAITING = "waiting for the pservers"


def never_started(evidence: Evidence) -> Reason | None:
    """Find the trainers of a collective job that have not started while others run."""
    if evidence.mode != "collective" or evidence.role != "trainers":
        return None
    counted = evidence.counted
    if counted.ready + counted.succeeded >= counted.desired:
        return None  # pods of finished trainers may no longer exist
    started = {rank(pod) for pod in evidence.pods if _phase(pod) != "Pending"}
    missing = [index for index in range(evidence.desired) if index not in started]
    if not started or not missing:
        return None
    first, count = missing[0], len(missing)
    if count == 1:
        who = f"trainer {first} of {evidence.desired} has"
    else:
        who = f"trainer {first} of {evidence.desired} and {count - 1} more have"
    return Reason(f"{who} not started; the others are waiting")


def waits_for_pservers(evidence: Evidence) -> Reason | None:
    """Find a trainer whose init container waits for the pservers."""
    for pod in evidence.pods:
        for container in (pod.get("status") or {}).get("initContainerStatuses") or ():
            running = (container.get("state") or {}).get("running")
            if container.get("name") == "wait-for-pservers" and running is not None:
                return Reason(_WAITING, (f"Pod/{pod['metadata']['name']}",))
    return None


def behind(reason: Reason, others: Reason | None) -> Reason:
    """Extend *reason*, if it is to wait for the pservers, by what keeps the pservers."""
    if reason.sentence != _WAITING or others is None:
        return reason
    return Reason(f"{_WAITING}: {others.sentence}", others.evidence)


def still_waiting(evidence: Evidence) -> Reason | None:
    """Find a rendezvous that all running trainers wait for, by the log of the first trainer."""
    if evidence.mode != "collective" or evidence.role != "trainers" or evidence.desired < 2:
        return None
    running = sorted((pod for pod in evidence.pods if _phase(pod) == "Running"), key=_rank)
    if len(running) < evidence.desired:
        return None
    lines = [line for line in evidence.ask.last_lines(running[0], "paddle", _LINES) if line.strip()]
    message = meaning(lines[-1:])
    if message is None or not message.waits:
        return None
    last = f"Pod/{running[0]['metadata']['name']} last wrote: {message.quote}"
    return Reason(f"all {len(running)} trainers are running, but {message.text}", (last,))


def _phase(pod: Manifest) -> str:
    return str((pod.get("status") or {}).get("phase") or "Pending")


def _rank(pod: Manifest) -> int:
    return rank(pod) or 0
