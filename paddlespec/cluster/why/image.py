"""Images that cannot be pulled: what the registry said, and with which pull secret it was asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.cluster.why.reason import Reason
from paddlespec.registry import image_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.manifest import Manifest

    Status = Mapping[str, Any]

_WORDS = {
    "ErrImagePull": "cannot pull image",
    "ImagePullBackOff": "cannot pull image",
    "ErrImageNeverPull": "is not allowed to pull image",
    "InvalidImageName": "cannot understand image",
}
# What container runtimes say, the more telling first: a denial names the image as not found, too.
_DENIED = (
    r"unauthorized|authorization failed|authentication required|insufficient_scope|access denied"
    r"|forbidden|no basic auth credentials|\b40[13]\b"
)
_ABSENT = r"not found|manifest unknown|does not exist|name unknown"
_AWAY = (
    r"dial tcp|i/o timeout|connection refused|no route to host|connection reset"
    r"|deadline exceeded|\bEOF\b"
)
_ERRORS = (
    ("too many requests: its rate limit", r"toomanyrequests|too many requests|rate limit|\b429\b"),
    ("the registry speaks HTTP, not HTTPS", r"server gave HTTP response to HTTPS client"),
    ("the registry's certificate is not trusted", r"x509:|tls: |certificate"),
    ("no such registry", r"no such host"),
    ("not permitted, or no such image", _DENIED),
    ("there is none for this kind of processor", r"no match for platform|no matching manifest"),
    ("no such image or tag", _ABSENT),
    ("the registry cannot be reached", _AWAY),
    ("the disk of the node is full", r"no space left on device"),
)
_PATTERNS = [(told, re.compile(pattern, re.IGNORECASE)) for told, pattern in _ERRORS]
_QUOTED = re.compile(r"\"[^\"]*\"")


def cannot_pull(evidence: Evidence) -> Reason | None:
    """The first image that does not come."""
    for pod in evidence.pods:
        for status in waiting(pod):
            told = words(status)
            if error(_message(status)) is None:
                told = _with_events(evidence, pod, status)
            return Reason(told, tuple(_secrets(evidence, pod, str(status.get("image")))))
    return None


def waiting(pod: Manifest) -> Iterator[Status]:
    """The containers of a pod that wait for their image in vain."""
    status = pod.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        yield from (each for each in status.get(listed) or () if is_cause(_reason(each)))


def is_cause(reason: str) -> bool:
    """Whether a container waits for its image."""
    return reason in _WORDS


def words(status: Status, known: str | None = None) -> str:
    """Which image, and why as far as it is known."""
    reason = _reason(status)
    why = known or error(_message(status)) or reason
    return f"{_WORDS[reason]} {status.get('image')} ({why})"


def error(message: str) -> str | None:
    """What a container runtime means; names of images, which it quotes, mean nothing."""
    text = _QUOTED.sub("", message)
    return next((told for told, pattern in _PATTERNS if pattern.search(text)), None)


def _with_events(evidence: Evidence, pod: Manifest, status: Status) -> str:
    """Of a pull that is put off, older kubelets tell the error in events alone."""
    for each in reversed(evidence.ask.events(pod["metadata"]["uid"])):
        told = str(each.get("message") or "")
        if each.get("reason") == "Failed" and (known := error(told)):
            return words(status, known)
    return words(status)


def _secrets(evidence: Evidence, pod: Manifest, image: str) -> Iterator[str]:
    spec = pod.get("spec") or {}
    named = [each["name"] for each in spec.get("imagePullSecrets") or () if each.get("name")]
    if not named:
        yield "it is pulled without a pull secret"
        return
    there = evidence.ask.pull_secrets()
    if there is None:
        yield f"it is pulled with the pull secret {', '.join(named)}"
        return
    known = {each.name: each.servers for each in there}
    try:
        host = image_of(image).host
    except ValueError:
        host = ""
    for name in named:
        if name not in known:
            yield f"there is no pull secret {name} in namespace {evidence.namespace}"
        elif host and host not in known[name]:
            servers = ", ".join(known[name]) or "no registry"
            yield f"the pull secret {name} is for {servers}, not for {host}"
        else:
            yield f"it is pulled with the pull secret {name}"


def _reason(status: Status) -> str:
    return str(((status.get("state") or {}).get("waiting") or {}).get("reason") or "")


def _message(status: Status) -> str:
    return str(((status.get("state") or {}).get("waiting") or {}).get("message") or "")
