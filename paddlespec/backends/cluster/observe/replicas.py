"""Pods as the replicas that people know: pure functions of what the API server stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.backends.cluster.api.pods import one_word, rank
from paddlespec.backends.cluster.observe import readiness
from paddlespec.render.manifest import role
from paddlespec.runs.state import Doing, Worker, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.render.manifest import Manifest

_PHASES = {
    "Pending": Doing.pending,
    "Running": Doing.running,
    "Succeeded": Doing.succeeded,
    "Failed": Doing.failed,
}


def workers(pods: Iterable[Manifest]) -> tuple[Worker, ...]:
    """The pods of a job, trainers first."""
    return tuple(in_order(map(worker, pods)))


def worker(pod: Manifest) -> Worker:
    """One pod."""
    status = pod.get("status") or {}
    looked = readiness.pod(pod)
    state = _PHASES.get(status.get("phase", "Pending"), Doing.unknown)
    ended = _ended(status)
    if workloads.is_going(pod) and state in (Doing.pending, Doing.running):
        state = Doing.stopping
    failed = state is Doing.failed
    hindered = state is Doing.pending and not looked.ok
    return Worker(
        pod["metadata"]["name"],
        role(pod) or "",
        rank(pod),
        state,
        ready=state is Doing.running and looked.done,
        reason=_reason(status, state, ready=looked.done),
        node=(pod.get("spec") or {}).get("nodeName"),
        address=status.get("podIP"),
        restarts=sum(each.get("restartCount", 0) for each in _containers(status)),
        started=status.get("startTime"),
        finished=ended.get("finishedAt"),
        code=ended.get("exitCode"),
        message=looked.message if failed or hindered else None,
    )


def _containers(status: dict[str, Any]) -> list[dict[str, Any]]:
    listed = ("initContainerStatuses", "containerStatuses")
    return [each for name in listed for each in status.get(name) or ()]


def _ended(status: dict[str, Any]) -> dict[str, Any]:
    """How the pod ended: by its first container that failed, or else by its own."""
    if status.get("phase") not in ("Succeeded", "Failed"):
        return {}
    ends = [(each.get("state") or {}).get("terminated") for each in _containers(status)]
    known: list[dict[str, Any]] = [each for each in ends if each]
    bad = [each for each in known if each.get("exitCode")]
    if bad:
        return min(bad, key=lambda each: each.get("finishedAt") or "")
    return known[-1] if known else {}


def _reason(status: dict[str, Any], state: Doing, *, ready: bool) -> str | None:
    """The word for what keeps a pod, or ended it."""
    if state is Doing.failed:
        return one_word(status.get("reason")) or one_word(_ended(status).get("reason"))
    if state is Doing.running:
        return None if ready else "NotReady"
    if state is not Doing.pending:
        return None
    for each in _containers(status):
        reason = ((each.get("state") or {}).get("waiting") or {}).get("reason")
        if reason:
            return one_word(reason)
    for each in status.get("conditions") or ():
        if each.get("type") == "PodScheduled" and each.get("status") == "False":
            return one_word(each.get("reason"))
    return None
