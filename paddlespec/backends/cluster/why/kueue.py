"""Jobs waiting in a Kueue queue: what they wait for, and their position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.backends.cluster.api.pods import one_word
from paddlespec.backends.cluster.why.kueue_message import describe_queue, explain_message
from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.workloads.live import QUEUE_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

GROUP = "kueue.x-k8s.io"


def queued(evidence: Evidence) -> Reason | None:
    """Find what Kueue reports about the job, and its position in the queue."""
    metadata = evidence.workload["metadata"]
    queue = (metadata.get("labels") or {}).get(QUEUE_LABEL)
    if not queue or not workloads.is_stopped(evidence.workload):
        return None
    listed = evidence.ask.find(GROUP, "Workload")
    if listed is None:
        return None
    owned = [workload for workload in listed if _is_owned(workload, metadata["uid"])]
    own = next((workload for workload in owned if "Finished" not in _held(workload)), None)
    queue_problem = _queue_problem(evidence, queue)
    if own is None:
        return Reason(queue_problem) if queue_problem else None
    if (own.get("spec") or {}).get("active") is False:
        return Reason(f"its Kueue workload {own['metadata']['name']} was deactivated")
    if "QuotaReserved" in _held(own):
        return _checked(own)
    cause = queue_problem or explain_message(_refusal(own)) or "waiting for its turn"
    position = _position(own, listed)
    return Reason(f"{cause} ({position} in queue {queue})", (*_eviction(own), *_ahead(own, listed)))


def _is_owned(workload: Manifest, uid: str) -> bool:
    return any(
        owner.get("uid") == uid for owner in workload["metadata"].get("ownerReferences") or ()
    )


def _held(workload: Manifest, value: str = "True") -> dict[str, Mapping[str, Any]]:
    listed = (workload.get("status") or {}).get("conditions") or ()
    return {
        condition["type"]: condition for condition in listed if condition.get("status") == value
    }


def _refusal(workload: Manifest) -> str:
    return str(_held(workload, "False").get("QuotaReserved", {}).get("message") or "")


def _queue_problem(evidence: Evidence, queue: str) -> str | None:
    """Say what is wrong with the queue itself."""
    queues = evidence.ask.find(GROUP, "LocalQueue")
    if queues is None:
        return None
    own = next(
        (local_queue for local_queue in queues if local_queue["metadata"]["name"] == queue), None
    )
    if own is None:
        names = ", ".join(sorted(item["metadata"]["name"] for item in queues)) or "none"
        return f"namespace {evidence.namespace} has no queue {queue}; its queues: {names}"
    inactive = _held(own, "False").get("Active")
    if inactive is None:
        return None
    cluster = (own.get("spec") or {}).get("clusterQueue")
    if inactive.get("reason") == "ClusterQueueDoesNotExist":
        return describe_queue("ClusterQueue", cluster, "doesn't exist")
    if inactive.get("reason") == "ClusterQueueIsInactive":
        return describe_queue("ClusterQueue", cluster, "is inactive")
    return describe_queue("LocalQueue", queue, "is inactive")


def _checked(own: Manifest) -> Reason | None:
    """Explain a workload that has its quota but waits for an admission check."""
    checks = (own.get("status") or {}).get("admissionChecks") or ()
    waiting = [check["name"] for check in checks if check.get("state") != "Ready"]
    if not waiting:
        return None
    return Reason(f"has its quota and is waiting for admission check {waiting[0]}")


def _eviction(own: Manifest) -> list[str]:
    """Say that the workload was admitted earlier and evicted."""
    evicted = one_word(_held(own).get("Evicted", {}).get("reason"))
    return [f"admitted earlier, then evicted: {evicted}"] if evicted else []


def _position(own: Manifest, listed: list[Manifest]) -> str:
    line = _line(own, listed)
    return f"position {line.index(own) + 1} of {len(line)}"


def _ahead(own: Manifest, listed: list[Manifest]) -> list[str]:
    line = _line(own, listed)
    ahead = line[: line.index(own)]
    names = [f"ahead of it: Workload/{workload['metadata']['name']}" for workload in ahead[:3]]
    return [*names, *([f"and {len(ahead) - 3} more"] if len(ahead) > 3 else [])]


def _line(own: Manifest, listed: list[Manifest]) -> list[Manifest]:
    """List the workloads waiting in the same queue, in the order in which Kueue considers them."""
    queue = own["spec"].get("queueName")
    waiting = [
        workload
        for workload in listed
        if (workload.get("spec") or {}).get("queueName") == queue
        and not {"QuotaReserved", "Finished"} & set(_held(workload))
        and (workload.get("spec") or {}).get("active") is not False
    ]
    return sorted(
        waiting,
        key=lambda workload: (
            -(workload["spec"].get("priority") or 0),
            str(workload["metadata"].get("creationTimestamp") or ""),
        ),
    )
