"""Containers that do not start, but for their image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.cluster.why import image
from paddlespec.cluster.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

_WORDS = {
    "CreateContainerConfigError": "misses something that its variables or volumes name",
    "CrashLoopBackOff": "ends again and again",
}
_PASSING = ("ContainerCreating", "PodInitializing", "")
# The kubelet's texts that name an object; others may quote a command.
_MISSING = re.compile(
    r"(?:(?:secret|configmap) \"[\w.-]+\" not found"
    r"|couldn't find key [\w.-]+ in (?:Secret|ConfigMap) [\w./-]+"
    r"|container has runAsNonRoot and image will run as root)"
)


def does_not_start(evidence: Evidence) -> Reason | None:
    """The first replica that is stuck, or whose volumes the node cannot mount."""
    for pod in evidence.pods:
        if told := next(stuck(pod), None):
            return Reason(told, (f"Pod/{pod['metadata']['name']} is the first of those",))
    pending = next((each for each in evidence.pods if _is_placed(each)), None)
    if pending is not None and (told := _unmounted(evidence, pending)):
        return Reason(told, (f"Pod/{pending['metadata']['name']} is the first of those",))
    return None


def stuck(pod: Manifest) -> Iterator[str]:
    """Why containers do not start, where it is more than a matter of time."""
    status = pod.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(listed) or ():
            waiting = (each.get("state") or {}).get("waiting") or {}
            reason = str(waiting.get("reason") or "")
            if image.is_cause(reason):
                yield image.words(each)
            elif reason not in _PASSING:
                words = _WORDS.get(reason, "does not start")
                yield f"{words} ({missing(waiting.get('message')) or reason})"


def missing(text: object) -> str | None:
    """What the kubelet names in *text* as missing, if it is nothing else than a name."""
    found = _MISSING.search(str(text or ""))
    return found[0] if found else None


def _is_placed(pod: Manifest) -> bool:
    """Whether a pod has a node, and does not run yet."""
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    return status.get("phase") == "Pending" and bool(spec.get("nodeName"))


def _unmounted(evidence: Evidence, pod: Manifest) -> str | None:
    """A node waits without end for what a volume names, and says so in events alone."""
    for each in reversed(evidence.ask.events(pod["metadata"]["uid"])):
        known = missing(each.get("message"))
        if each.get("reason") == "FailedMount" and known:
            return f"cannot mount a volume ({known})"
    return None
