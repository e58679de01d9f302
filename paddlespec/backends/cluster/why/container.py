"""Containers that do not start for reasons other than their image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api.pods import is_sidecar
from paddlespec.backends.cluster.why import image
from paddlespec.backends.cluster.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

_PHRASES = {
    "CreateContainerConfigError": "its container cannot be created",
    "CrashLoopBackOff": "keeps crashing",
}
_OF_SIDECARS = {"CreateContainerConfigError": "cannot be created"}
_PASSING = ("ContainerCreating", "PodInitializing", "")
# Messages of the kubelet that name an object; others may quote a command.
_MISSING = re.compile(
    r"(?:(?:secret|configmap) \"[\w.-]+\" not found"
    r"|couldn't find key [\w.-]+ in (?:Secret|ConfigMap) [\w./-]+"
    r"|container has runAsNonRoot and image will run as root)"
)


def does_not_start(evidence: Evidence) -> Reason | None:
    """Find the first replica that is stuck, or whose volumes cannot be mounted."""
    for pod in evidence.pods:
        if cause := next(stuck(pod), None):
            return Reason(cause, (f"first such pod: Pod/{pod['metadata']['name']}",))
    pending = next((pod for pod in evidence.pods if _is_placed(pod)), None)
    if pending is not None and (cause := _unmounted(evidence, pending)):
        return Reason(cause, (f"first such pod: Pod/{pending['metadata']['name']}",))
    return None


def stuck(pod: Manifest) -> Iterator[str]:
    """Yield why containers do not start; normal start-up is not reported."""
    status = pod.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(listed) or ():
            waiting = (container.get("state") or {}).get("waiting") or {}
            reason = str(waiting.get("reason") or "")
            if image.is_cause(reason):
                yield image.describe(container)
            elif reason not in _PASSING:
                phrase = _PHRASES.get(reason, "does not start")
                if is_sidecar(pod, container["name"]):
                    phrase = f"sidecar {container['name']} {_OF_SIDECARS.get(reason, phrase)}"
                yield f"{phrase} ({missing(waiting.get('message')) or reason})"


def missing(text: object) -> str | None:
    """Extract the missing object that the kubelet names in *text*, if it has a known format."""
    match = _MISSING.search(str(text or ""))
    return match[0] if match else None


def _is_placed(pod: Manifest) -> bool:
    """Report whether a pod is assigned to a node but not running yet."""
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    return status.get("phase") == "Pending" and bool(spec.get("nodeName"))


def _unmounted(evidence: Evidence, pod: Manifest) -> str | None:
    """Find a failed mount, which the kubelet retries forever and reports only in events."""
    for event in reversed(evidence.ask.events(pod["metadata"]["uid"])):
        known = missing(event.get("message"))
        if event.get("reason") == "FailedMount" and known:
            return f"cannot mount a volume ({known})"
    return None
