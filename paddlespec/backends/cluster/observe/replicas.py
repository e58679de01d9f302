"""Convert pods to replicas: pure functions of what the API server stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.backends.cluster.api.pods import one_word, rank, statuses
from paddlespec.backends.cluster.observe import readiness
from paddlespec.render.manifest import role
from paddlespec.runs.state import Worker, WorkerState, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.render.manifest import Manifest

_PHASES = {
    "Pending": WorkerState.pending,
    "Running": WorkerState.running,
    "Succeeded": WorkerState.succeeded,
    "Failed": WorkerState.failed,
}


def workers(pods: Iterable[Manifest]) -> tuple[Worker, ...]:
    """Return the replicas of a job, trainers first."""
    return tuple(in_order(map(worker, pods)))


def worker(pod: Manifest) -> Worker:
    """Return the replica of one pod."""
    status = pod.get("status") or {}
    looked = readiness.pod(pod)
    state = _PHASES.get(status.get("phase", "Pending"), WorkerState.unknown)
    ended = _ended(pod)
    if workloads.is_going(pod) and state in (WorkerState.pending, WorkerState.running):
        state = WorkerState.stopping
    failed = state is WorkerState.failed
    hindered = state is WorkerState.pending and not looked.ok
    return Worker(
        pod["metadata"]["name"],
        role(pod) or "",
        rank(pod),
        state,
        ready=state is WorkerState.running and looked.done,
        reason=_reason(pod, state, ready=looked.done),
        node=(pod.get("spec") or {}).get("nodeName"),
        address=status.get("podIP"),
        restarts=sum(container.get("restartCount", 0) for container in statuses(pod)),
        started=status.get("startTime"),
        finished=ended.get("finishedAt"),
        code=ended.get("exitCode"),
        message=looked.message if failed or hindered else None,
    )


def _containers(status: dict[str, Any]) -> list[dict[str, Any]]:
    listed = ("initContainerStatuses", "containerStatuses")
    return [container for name in listed for container in status.get(name) or ()]


def _ended(pod: Manifest) -> dict[str, Any]:
    """Return how the pod ended: by its first container that failed, or else by its last one."""
    if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
        return {}
    ends = [(container.get("state") or {}).get("terminated") for container in statuses(pod)]
    known: list[dict[str, Any]] = [end for end in ends if end]
    bad = [end for end in known if end.get("exitCode")]
    if bad:
        return min(bad, key=lambda end: end.get("finishedAt") or "")
    return known[-1] if known else {}


def _reason(pod: Manifest, state: WorkerState, *, ready: bool) -> str | None:
    """Return in one word what keeps the pod from running, or why it failed."""
    status = pod.get("status") or {}
    if state is WorkerState.failed:
        return one_word(status.get("reason")) or one_word(_ended(pod).get("reason"))
    if state is WorkerState.running:
        return None if ready else "NotReady"
    if state is not WorkerState.pending:
        return None
    for container in _containers(status):
        reason = ((container.get("state") or {}).get("waiting") or {}).get("reason")
        if reason:
            return one_word(reason)
    for container in status.get("conditions") or ():
        if container.get("type") == "PodScheduled" and container.get("status") == "False":
            return one_word(container.get("reason"))
    return None
