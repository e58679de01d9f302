"""How far an object is on its way: pure functions of what the API server stores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec import exit_code
from paddlespec.backend import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.manifest import Manifest

_WHY = {
    "BackoffLimitExceeded": "a replica failed",
    "FailedIndexes": "a replica failed",
    "PodFailurePolicy": "a replica failed",
    "DeadlineExceeded": "its timeout has passed",
    "FailedJobs": "a role failed",
    "ReachedMaxRestarts": "a role failed again and again",
}
_WAITING = {
    "ErrImagePull": "cannot pull image",
    "ImagePullBackOff": "cannot pull image",
    "ErrImageNeverPull": "is not allowed to pull image",
    "InvalidImageName": "cannot understand image",
    "CreateContainerConfigError": "misses something that its variables or volumes name",
    "CrashLoopBackOff": "ends again and again",
}
_IMAGE = ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName")
_PASSING = ("ContainerCreating", "PodInitializing", "")
# The kubelet's texts that name an object; others may quote a command.
_MISSING = re.compile(
    r"(?:(?:secret|configmap) \"[\w.-]+\" not found"
    r"|couldn't find key [\w.-]+ in (?:Secret|ConfigMap) [\w./-]+"
    r"|container has runAsNonRoot and image will run as root)"
)
_KUEUE_LABEL = "kueue.x-k8s.io/queue-name"


def job(live: Manifest) -> Progress:
    """How far a Job is."""
    status = live.get("status") or {}
    held = _conditions(live)
    if "Complete" in held:
        return Progress(True, True, "complete")
    if "Failed" in held:
        return Progress(True, False, f"failed: {_why(held['Failed'])}")
    if "FailureTarget" in held:
        return Progress(False, False, f"failing: {_why(held['FailureTarget'])}")
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
        return Progress(True, False, ending(live))
    if phase == "Succeeded":
        return Progress(True, True, "ended")
    if is_going(live):
        return Progress(False, True, "is ending")
    stuck = next(_stuck(live), None)
    if stuck is not None:
        return Progress(False, False, stuck)
    held = _conditions(live)
    if phase == "Running":
        return Progress("Ready" in held, True, "ready" if "Ready" in held else "not ready yet")
    unscheduled = _conditions(live, "False").get("PodScheduled")
    if unscheduled is not None:
        if unscheduled.get("reason") == "Unschedulable":
            return Progress(False, False, f"fits on no node: {_line(unscheduled.get('message'))}")
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
    phase = (live.get("status") or {}).get("phase") or "Pending"
    if phase in ("Running", "Completed"):
        return Progress(True, True, str(phase).lower())
    if phase == "Inqueue":
        return Progress(False, True, "admitted, waits for room")
    if phase == "Unknown":
        return Progress(False, False, "only a part of its pods runs")
    unscheduled = _conditions(live).get("Unschedulable")
    if unscheduled is not None:
        return Progress(False, False, "not all of its pods fit at the same time")
    return Progress(False, True, "waits in its queue")


def job_set(live: Manifest) -> Progress:
    """How far a JobSet is."""
    held = _conditions(live)
    if "Completed" in held:
        return Progress(True, True, "complete")
    if "Failed" in held:
        return Progress(True, False, f"failed: {_why(held['Failed'])}")
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


def ended_badly(live: Manifest) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The containers of a pod that failed: when, which, and how."""
    status = live.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(listed) or ():
            ended = (each.get("state") or {}).get("terminated")
            if ended and ended.get("exitCode"):
                yield ended.get("finishedAt") or "", each["name"], ended


def ending(live: Manifest) -> str:
    """Why a pod failed, in words."""
    first = min(ended_badly(live), key=lambda each: each[0], default=None)
    if first is None:
        reason = (live.get("status") or {}).get("reason")
        return {"Evicted": "evicted by its node", "Preempting": "preempted"}.get(
            reason or "", "ended by the system"
        )
    _, container, ended = first
    code = ended["exitCode"]
    if ended.get("reason") == "OOMKilled":
        words = "out of memory"
    else:
        words = exit_code.words(code)
    where = "" if container == "paddle" else f" in {container}"
    return f"exit code {code}{where}" + (f" ({words})" if words else "")


def missing(text: object) -> str | None:
    """What the kubelet names in *text* as missing, if it is nothing else than a name."""
    found = _MISSING.search(str(text or ""))
    return found[0] if found else None


def _stuck(live: Manifest) -> Iterator[str]:
    """Why containers do not start, where it is more than a matter of time."""
    status = live.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(listed) or ():
            waiting = (each.get("state") or {}).get("waiting") or {}
            reason = str(waiting.get("reason") or "")
            if reason in _PASSING:
                continue
            words = _WAITING.get(reason, "does not start")
            if reason in _IMAGE:
                words = f"{words} {each.get('image')}"
            yield f"{words} ({missing(waiting.get('message')) or reason})"


def _conditions(live: Manifest, value: str = "True") -> dict[str, dict[str, Any]]:
    listed = (live.get("status") or {}).get("conditions") or ()
    return {each["type"]: each for each in listed if each.get("status") == value}


def _why(condition: dict[str, Any]) -> str:
    reason = str(condition.get("reason") or "")
    return _WHY.get(reason, reason or "no reason given")


def _line(text: object) -> str:
    return " ".join(str(text or "no reason given").split())[:300]
