"""How far an object is on its way: pure functions of what the API server stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backend import Progress
from paddlespec.cluster.why import container, deadline, ended, gang, placement
from paddlespec.outcome import REPLICA_FAILED

if TYPE_CHECKING:
    from paddlespec.manifest import Manifest

_WHY = {
    "BackoffLimitExceeded": REPLICA_FAILED,
    "FailedIndexes": REPLICA_FAILED,
    "PodFailurePolicy": REPLICA_FAILED,
    "FailedJobs": "a role failed",
    "ReachedMaxRestarts": "a role failed again and again",
}
_KUEUE_LABEL = "kueue.x-k8s.io/queue-name"


def job(live: Manifest) -> Progress:
    """How far a Job is."""
    status = live.get("status") or {}
    held = _conditions(live)
    if "Complete" in held:
        return Progress(True, True, "complete")
    if "Failed" in held:
        return Progress(True, False, f"failed: {_why(live, held['Failed'])}")
    if "FailureTarget" in held:
        return Progress(False, False, f"failing: {_why(live, held['FailureTarget'])}")
    if is_going(live):
        return Progress(False, False, "is being deleted")
    if "SuccessCriteriaMet" in held:
        return Progress(False, True, "finishing")
    if live["spec"].get("suspend"):
        queued = _KUEUE_LABEL in (live["metadata"].get("labels") or {})
        return Progress(False, True, "queued" if queued else "suspended")
    counts = {
        "active": status.get("active", 0),
        "succeeded": status.get("succeeded", 0),
        "failed": status.get("failed", 0),
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return Progress(False, True, told or "no pods yet")


def state(live: Manifest) -> str:
    """What a Job does, as a verb: for messages about one that stands in the way."""
    found = job(live)
    if found.done:
        return "is complete" if found.ok else found.message
    return {"queued": "waits in its queue", "suspended": "is suspended"}.get(
        found.message, "is running"
    )


def stateful_set(live: Manifest) -> Progress:
    """How far a StatefulSet is."""
    if is_going(live):
        return Progress(False, False, "is being deleted")
    status = live.get("status") or {}
    wanted = live["spec"].get("replicas", 1)
    current = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    ready = status.get("readyReplicas", 0) if current else 0
    settled = ready >= wanted and status.get("replicas", 0) <= wanted
    return Progress(current and settled, True, f"{ready}/{wanted} ready")


def pod(live: Manifest) -> Progress:
    """How far a pod is: done means that it runs, or has ended."""
    phase = (live.get("status") or {}).get("phase")
    if phase == "Failed":
        return Progress(True, False, ended.ending(live))
    if phase == "Succeeded":
        return Progress(True, True, "ended")
    if is_going(live):
        return Progress(False, True, "is ending")
    stuck = next(container.stuck(live), None)
    if stuck is not None:
        return Progress(False, False, stuck)
    held = _conditions(live)
    if phase == "Running":
        return Progress("Ready" in held, True, "ready" if "Ready" in held else "not ready yet")
    if unplaced := placement.unplaced(live):
        return Progress(False, False, placement.words(unplaced))
    if "PodScheduled" in _conditions(live, "False"):
        return Progress(False, True, "waits to be scheduled")
    return Progress(False, True, "starting")


def claim(live: Manifest, *, waits_for_consumer: bool = False) -> Progress:
    """How far a claim is; some storage classes provide only when a pod asks."""
    phase = (live.get("status") or {}).get("phase", "Pending")
    if phase == "Bound":
        return Progress(True, True, "bound")
    if phase == "Lost":
        return Progress(True, False, "has lost its volume")
    if waits_for_consumer:
        return Progress(True, True, "provided when a pod asks")
    return Progress(False, True, "waits for a volume")


def pod_group(live: Manifest) -> Progress:
    """How far a gang is: Volcano starts all pods of it or none."""
    if is_going(live):
        return Progress(False, False, "is being deleted")
    told = gang.words(live)
    if told is None:
        phase = str(live["status"]["phase"])
        return Progress(True, True, phase.lower())
    return Progress(False, told in gang.PASSING, told)


def job_set(live: Manifest) -> Progress:
    """How far a JobSet is."""
    held = _conditions(live)
    if "Completed" in held:
        return Progress(True, True, "complete")
    if "Failed" in held:
        return Progress(True, False, f"failed: {_why(live, held['Failed'])}")
    if is_going(live):
        return Progress(False, False, "is being deleted")
    if live["spec"].get("suspend"):
        queued = _KUEUE_LABEL in (live["metadata"].get("labels") or {})
        return Progress(False, True, "queued" if queued else "suspended")
    status = live.get("status") or {}
    parts = [
        f"{each['name']} {each.get('ready', 0) + each.get('succeeded', 0)} ready"
        for each in status.get("replicatedJobsStatus") or ()
    ]
    restarts = status.get("restarts") or 0
    parts += [f"{restarts} restarts"] if restarts else []
    return Progress(False, True, ", ".join(parts) or "no jobs yet")


def is_going(live: Manifest) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in live["metadata"]


def _conditions(live: Manifest, value: str = "True") -> dict[str, dict[str, Any]]:
    listed = (live.get("status") or {}).get("conditions") or ()
    return {each["type"]: each for each in listed if each.get("status") == value}


def _why(live: Manifest, condition: dict[str, Any]) -> str:
    reason = str(condition.get("reason") or "")
    if reason == deadline.REASON:
        return deadline.words(live)
    return _WHY.get(reason, reason or "no reason given")
