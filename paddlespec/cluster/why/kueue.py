"""Jobs that wait in a queue of Kueue: for what, and how many are before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cluster.replicas import word
from paddlespec.cluster.why.kueue_message import queue_words, words
from paddlespec.cluster.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

GROUP = "kueue.x-k8s.io"
QUEUE_LABEL = f"{GROUP}/queue-name"


def queued(evidence: Evidence) -> Reason | None:
    """What Kueue says of the job, and its place among those that wait in the same queue."""
    metadata = evidence.workload["metadata"]
    queue = (metadata.get("labels") or {}).get(QUEUE_LABEL)
    if not queue or not evidence.workload["spec"].get("suspend"):
        return None
    listed = evidence.ask.find(GROUP, "Workload")
    if listed is None:
        return None
    owned = [each for each in listed if _is_owned(each, metadata["uid"])]
    own = next((each for each in owned if "Finished" not in _held(each)), None)
    queue_trouble = _trouble(evidence, queue)
    if own is None:
        return Reason(queue_trouble) if queue_trouble else None
    if (own.get("spec") or {}).get("active") is False:
        return Reason(f"its workload {own['metadata']['name']} was made inactive")
    if "QuotaReserved" in _held(own):
        return _checked(own)
    place = _place(own, listed)
    told = queue_trouble or words(_refusal(own)) or "waits for its turn"
    return Reason(f"{told} ({place} in queue {queue})", (*_before(own), *_ahead(own, listed)))


def _is_owned(workload: Manifest, uid: str) -> bool:
    return any(each.get("uid") == uid for each in workload["metadata"].get("ownerReferences") or ())


def _held(workload: Manifest, value: str = "True") -> dict[str, Mapping[str, Any]]:
    listed = (workload.get("status") or {}).get("conditions") or ()
    return {each["type"]: each for each in listed if each.get("status") == value}


def _refusal(workload: Manifest) -> str:
    return str(_held(workload, "False").get("QuotaReserved", {}).get("message") or "")


def _trouble(evidence: Evidence, queue: str) -> str | None:
    """What is wrong with the queue itself."""
    queues = evidence.ask.find(GROUP, "LocalQueue")
    if queues is None:
        return None
    own = next((each for each in queues if each["metadata"]["name"] == queue), None)
    if own is None:
        there = ", ".join(sorted(each["metadata"]["name"] for each in queues)) or "none"
        return f"there is no queue {queue} in namespace {evidence.namespace}: there is {there}"
    inactive = _held(own, "False").get("Active")
    if inactive is None:
        return None
    cluster = (own.get("spec") or {}).get("clusterQueue")
    if inactive.get("reason") == "ClusterQueueDoesNotExist":
        return queue_words("ClusterQueue", cluster, "doesn't exist")
    if inactive.get("reason") == "ClusterQueueIsInactive":
        return queue_words("ClusterQueue", cluster, "is inactive")
    return queue_words("LocalQueue", queue, "is inactive")


def _checked(own: Manifest) -> Reason | None:
    """A workload that has its quota may still wait for checks."""
    checks = (own.get("status") or {}).get("admissionChecks") or ()
    waiting = [each["name"] for each in checks if each.get("state") != "Ready"]
    return Reason(f"has its quota, and waits for the check {waiting[0]}") if waiting else None


def _before(own: Manifest) -> list[str]:
    """That it ran already, and had to stop."""
    evicted = word(_held(own).get("Evicted", {}).get("reason"))
    return [f"it was admitted once, and stopped again: {evicted}"] if evicted else []


def _place(own: Manifest, listed: list[Manifest]) -> str:
    line = _line(own, listed)
    return f"place {line.index(own) + 1} of {len(line)}"


def _ahead(own: Manifest, listed: list[Manifest]) -> list[str]:
    line = _line(own, listed)
    ahead = line[: line.index(own)]
    told = [f"before it: Workload/{each['metadata']['name']}" for each in ahead[:3]]
    return [*told, *([f"and {len(ahead) - 3} more"] if len(ahead) > 3 else [])]


def _line(own: Manifest, listed: list[Manifest]) -> list[Manifest]:
    """Who waits in the same queue, in the order in which Kueue looks at them."""
    queue = own["spec"].get("queueName")
    waiting = [
        each
        for each in listed
        if (each.get("spec") or {}).get("queueName") == queue
        and not {"QuotaReserved", "Finished"} & set(_held(each))
        and (each.get("spec") or {}).get("active") is not False
    ]
    return sorted(
        waiting,
        key=lambda each: (
            -(each["spec"].get("priority") or 0),
            str(each["metadata"].get("creationTimestamp") or ""),
        ),
    )
