"""How a failed pod ended: by its exit code, its memory limit, its node or a preemption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.api.pods import statuses
from paddlespec.backends.cluster.why import eviction
from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.runs import exit_code
from paddlespec.runs.outcome import lost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

    # When a container ended, its name, and its `terminated` state.
    Ended = tuple[str, str, dict[str, Any]]

_MAIN = "paddle"
_TERMINATED = 143


def failed(evidence: Evidence) -> Reason | None:
    """Find the replica that failed first."""
    pod = first(evidence.pods)
    if pod is None:
        return None
    name, node = pod["metadata"]["name"], (pod.get("spec") or {}).get("nodeName")
    where = f" on {node}" if node else ""
    sentence = f"{lost(evidence.role)}: {evidence.named(pod)}, {ending(pod)}"
    return Reason(sentence, (f"Pod/{name}{where}",))


def first(pods: Iterable[Manifest]) -> Manifest | None:
    """Return the pod that failed first."""
    return next(iter(in_order(pods)), None)


def in_order(pods: Iterable[Manifest]) -> list[Manifest]:
    """
    Return the failed pods, the earliest first.

    Replicas that are terminated because of a failure end within the same second, by a signal.
    """
    failed = [pod for pod in pods if _has_failed(pod)]
    return sorted(failed, key=lambda pod: (_time(pod), is_terminated(pod)))


def is_terminated(pod: Manifest) -> bool:
    """Report whether a pod was terminated, as all pods of a failed Job are."""
    bad = _earliest(pod)
    return bad is not None and exit_code.signalled(bad[2]["exitCode"]) == _TERMINATED


def container(pod: Manifest) -> str:
    """Return the name of the container that failed first."""
    bad = _earliest(pod)
    return bad[1] if bad else _MAIN


def ending(pod: Manifest) -> str:
    """Describe why a pod failed."""
    if cause := eviction.cause(pod):
        return cause
    bad = _earliest(pod)
    if bad is None:
        return "stopped by the system"
    _, name, ended = bad
    code = ended["exitCode"]
    meaning = exit_code.meaning(code)
    if ended.get("reason") == "OOMKilled":
        limit = _memory(pod, name)
        meaning = "out of memory" + (f"; its limit is {limit}" if limit else "")
    where = "" if name == _MAIN else f" in {name}"
    return f"exit code {code}{where}" + (f" ({meaning})" if meaning else "")


def _earliest(pod: Manifest) -> Ended | None:
    return min(_badly(pod), key=lambda end: end[0], default=None)


def _badly(pod: Manifest) -> Iterator[Ended]:
    """Yield the containers of a pod that failed; sidecars are stopped by a signal at its end."""
    for container in statuses(pod):
        ended = (container.get("state") or {}).get("terminated")
        if ended and ended.get("exitCode"):
            yield ended.get("finishedAt") or "", container["name"], ended


def _has_failed(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") == "Failed" or _earliest(pod) is not None


def _time(pod: Manifest) -> str:
    """Return when a pod failed: by its first container, else by its disruption condition."""
    ends = [end[0] for end in _badly(pod)]
    disruption = eviction.disruption(pod)
    ends += [str(disruption.get("lastTransitionTime") or "")] if disruption else []
    return min((moment for moment in ends if moment), default="~")


def _memory(pod: Manifest, name: str) -> str | None:
    spec = pod.get("spec") or {}
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        if container.get("name") == name:
            limit = ((container.get("resources") or {}).get("limits") or {}).get("memory")
            return str(limit) if limit else None
    return None
