"""How a pod ended that failed: its exit code, its memory, its node, or somebody more important."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import exit_code
from paddlespec.cluster.why import eviction
from paddlespec.cluster.why.reason import Reason
from paddlespec.outcome import lost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

    Ended = tuple[str, str, dict[str, Any]]

_MAIN = "paddle"
_TERMINATED = 143


def failed(evidence: Evidence) -> Reason | None:
    """The replica that failed first."""
    pod = first(evidence.pods)
    if pod is None:
        return None
    name, node = pod["metadata"]["name"], (pod.get("spec") or {}).get("nodeName")
    where = f" on {node}" if node else ""
    sentence = f"{lost(evidence.role)}: {evidence.named(pod)}, {ending(pod)}"
    return Reason(sentence, (f"Pod/{name}{where}",))


def first(pods: Iterable[Manifest]) -> Manifest | None:
    """The pod with which the trouble began."""
    return next(iter(in_order(pods)), None)


def in_order(pods: Iterable[Manifest]) -> list[Manifest]:
    """
    The pods that failed, the earliest first.

    Replicas that a failure took down end in the same second, by a signal.
    """
    failed = [each for each in pods if _has_failed(each)]
    return sorted(failed, key=lambda each: (_time(each), is_terminated(each)))


def is_terminated(pod: Manifest) -> bool:
    """Whether a pod was told to end, as all are of a Job that failed."""
    bad = _earliest(pod)
    return bad is not None and exit_code.signalled(bad[2]["exitCode"]) == _TERMINATED


def container(pod: Manifest) -> str:
    """The container that failed first."""
    bad = _earliest(pod)
    return bad[1] if bad else _MAIN


def ending(pod: Manifest) -> str:
    """Why a pod failed, in words."""
    if told := eviction.words(pod):
        return told
    bad = _earliest(pod)
    if bad is None:
        return "ended by the system"
    _, name, ended = bad
    code = ended["exitCode"]
    words = exit_code.words(code)
    if ended.get("reason") == "OOMKilled":
        limit = _memory(pod, name)
        words = "out of memory" + (f", its limit is {limit}" if limit else "")
    where = "" if name == _MAIN else f" in {name}"
    return f"exit code {code}{where}" + (f" ({words})" if words else "")


def _earliest(pod: Manifest) -> Ended | None:
    return min(_badly(pod), key=lambda each: each[0], default=None)


def _badly(pod: Manifest) -> Iterator[Ended]:
    """The containers of a pod that failed: when, which, and how."""
    status = pod.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(listed) or ():
            ended = (each.get("state") or {}).get("terminated")
            if ended and ended.get("exitCode"):
                yield ended.get("finishedAt") or "", each["name"], ended


def _has_failed(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") == "Failed" or _earliest(pod) is not None


def _time(pod: Manifest) -> str:
    """When a pod failed: by its first container, or else by the condition that says so."""
    ends = [each[0] for each in _badly(pod)]
    disruption = eviction.disruption(pod)
    ends += [str(disruption.get("lastTransitionTime") or "")] if disruption else []
    return min((each for each in ends if each), default="~")


def _memory(pod: Manifest, name: str) -> str | None:
    spec = pod.get("spec") or {}
    for each in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        if each.get("name") == name:
            limit = ((each.get("resources") or {}).get("limits") or {}).get("memory")
            return str(limit) if limit else None
    return None
