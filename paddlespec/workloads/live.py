"""What live objects of every kind report in the same form: conditions, deletion, controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.runs.outcome import REPLICA_FAILED, timed_out

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
DEADLINE = "DeadlineExceeded"
_REASONS = {
    "BackoffLimitExceeded": REPLICA_FAILED,
    "FailedIndexes": REPLICA_FAILED,
    "PodFailurePolicy": REPLICA_FAILED,
    "FailedJobs": "a role failed",
    "ReachedMaxRestarts": "a role failed repeatedly",
}


def conditions(live: Manifest, value: str = "True") -> dict[str, dict[str, Any]]:
    """Return the conditions of an object whose status is *value*, keyed by type."""
    listed = (live.get("status") or {}).get("conditions") or ()
    return {held["type"]: held for held in listed if held.get("status") == value}


def since(live: Manifest, *types: str) -> str | None:
    """Return since when one of the conditions *types* holds."""
    held = conditions(live)
    times = (held[name].get("lastTransitionTime") for name in types if name in held)
    return next((moment for moment in times if moment), None)


def started(live: Manifest) -> str | None:
    """When the controller of an object started it, in RFC 3339."""
    moment: str | None = (live.get("status") or {}).get("startTime")
    return moment


def is_going(live: Manifest) -> bool:
    """Report whether an object is being deleted."""
    return "deletionTimestamp" in live["metadata"]


def is_queued(manifest: Manifest) -> bool:
    """Report whether Kueue decides when an object starts."""
    return QUEUE_LABEL in (manifest["metadata"].get("labels") or {})


def is_child(live: Manifest) -> bool:
    """Report whether a controller created an object as a part of another one."""
    owners = live["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") for owner in owners)


def waiting(live: Manifest) -> str:
    """Say in one word why a suspended object has no pods."""
    return "queued" if is_queued(live) else "suspended"


def reason(condition: dict[str, Any], limit: float | None = None) -> str:
    """Say why a run failed, by its controller's condition; *limit* is its timeout in seconds."""
    name = str(condition.get("reason") or "")
    if name == DEADLINE:
        return timed_out(limit)
    return _REASONS.get(name, name or "no reason given")
