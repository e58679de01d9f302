"""Images that cannot be pulled: the registry's error, and the pull secret that was used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.why.reason import Reason
from paddlespec.images.registry import image_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.render.manifest import Manifest

    Status = Mapping[str, Any]

_PROBLEMS = {
    "ErrImagePull": "cannot pull image",
    "ImagePullBackOff": "cannot pull image",
    "ErrImageNeverPull": "pull policy Never forbids pulling image",
    "InvalidImageName": "invalid image name",
}
# Errors of container runtimes, the more specific first: a denial also says "not found".
_DENIED = (
    r"unauthorized|authorization failed|authentication required|insufficient_scope|access denied"
    r"|forbidden|no basic auth credentials|\b40[13]\b"
)
_ABSENT = r"not found|manifest unknown|does not exist|name unknown"
_UNREACHABLE = (
    r"dial tcp|i/o timeout|connection refused|no route to host|connection reset"
    r"|deadline exceeded|\bEOF\b"
)
_ERRORS = (
    ("registry rate limit reached", r"toomanyrequests|too many requests|rate limit|\b429\b"),
    ("the registry speaks HTTP, not HTTPS", r"server gave HTTP response to HTTPS client"),
    ("the registry's certificate is not trusted", r"x509:|tls: |certificate"),
    ("registry host not found", r"no such host"),
    ("access denied, or no such image", _DENIED),
    ("no image for the node's CPU architecture", r"no match for platform|no matching manifest"),
    ("no such image or tag", _ABSENT),
    ("cannot reach the registry", _UNREACHABLE),
    ("the node's disk is full", r"no space left on device"),
)
_PATTERNS = [(cause, re.compile(pattern, re.IGNORECASE)) for cause, pattern in _ERRORS]
_QUOTED = re.compile(r"\"[^\"]*\"")


def cannot_pull(evidence: Evidence) -> Reason | None:
    """Find the first image that cannot be pulled."""
    for pod in evidence.pods:
        for status in waiting(pod):
            sentence = describe(status)
            if error(_message(status)) is None:
                sentence = _with_events(evidence, pod, status)
            return Reason(sentence, tuple(_secrets(evidence, pod, str(status.get("image")))))
    return None


def waiting(pod: Manifest) -> Iterator[Status]:
    """Yield the containers of a pod whose image cannot be pulled."""
    status = pod.get("status") or {}
    for listed in ("initContainerStatuses", "containerStatuses"):
        yield from (
            container for container in status.get(listed) or () if is_cause(_reason(container))
        )


def is_cause(reason: str) -> bool:
    """Report whether a waiting reason is about the image."""
    return reason in _PROBLEMS


def describe(status: Status, known: str | None = None) -> str:
    """Name the image and why it cannot be pulled; *known* overrides the container's message."""
    reason = _reason(status)
    why = known or error(_message(status)) or reason
    return f"{_PROBLEMS[reason]} {status.get('image')} ({why})"


def error(message: str) -> str | None:
    """Classify a message of a container runtime; the image names that it quotes are ignored."""
    text = _QUOTED.sub("", message)
    return next((cause for cause, pattern in _PATTERNS if pattern.search(text)), None)


def _with_events(evidence: Evidence, pod: Manifest, status: Status) -> str:
    """Describe a pull in back-off, whose error older kubelets report only in events."""
    for event in reversed(evidence.ask.events(pod["metadata"]["uid"])):
        text = str(event.get("message") or "")
        if event.get("reason") == "Failed" and (known := error(text)):
            return describe(status, known)
    return describe(status)


def _secrets(evidence: Evidence, pod: Manifest, image: str) -> Iterator[str]:
    spec = pod.get("spec") or {}
    named = [
        reference["name"]
        for reference in spec.get("imagePullSecrets") or ()
        if reference.get("name")
    ]
    if not named:
        yield "pulled without a pull secret"
        return
    secrets = evidence.ask.pull_secrets()
    if secrets is None:
        yield f"pulled with pull secret {', '.join(named)}"
        return
    known = {secret.name: secret.servers for secret in secrets}
    try:
        host = image_of(image).host
    except ValueError:
        host = ""
    for name in named:
        if name not in known:
            yield f"pull secret {name} does not exist in namespace {evidence.namespace}"
        elif host and host not in known[name]:
            servers = ", ".join(known[name]) or "no registry"
            yield f"pull secret {name} is for {servers}, not {host}"
        else:
            yield f"pulled with pull secret {name}"


def _reason(status: Status) -> str:
    return str(((status.get("state") or {}).get("waiting") or {}).get("reason") or "")


def _message(status: Status) -> str:
    return str(((status.get("state") or {}).get("waiting") or {}).get("message") or "")
