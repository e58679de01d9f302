"""Job of `batch/v1`: the pods of one role, which run to completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.render.manifest import role
from paddlespec.runs.state import RoleState
from paddlespec.runs.values import Progress
from paddlespec.workloads.kind import ANY, Kind, Switch
from paddlespec.workloads.live import conditions, is_going, reason, since, waiting
from paddlespec.workloads.roles import RolePods

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.render.manifest import Manifest

_SUSPEND = Switch(("spec", "suspend"), stopped=True, running=False)
_POD = ("spec", "template", "spec")
# Mutable fields of API server 1.36, whose refusals do not name the field.
KIND = Kind(
    api_version="batch/v1",
    kind="Job",
    plural="jobs",
    target="kubernetes",
    stop=_SUSPEND,
    hold=_SUSPEND,
    in_place=(
        ("spec", "parallelism"),
        ("spec", "backoffLimit"),
        ("spec", "activeDeadlineSeconds"),
        ("spec", "ttlSecondsAfterFinished"),
        ("spec", "podReplacementPolicy"),
        ("spec", "suspend"),
    ),
    while_suspended=(
        ("spec", "template", "metadata", "labels"),
        ("spec", "template", "metadata", "annotations"),
        (*_POD, "nodeSelector"),
        (*_POD, "tolerations"),
        (*_POD, "affinity"),
        (*_POD, "schedulingGates"),
        (*_POD, "containers", ANY, "resources"),
        (*_POD, "initContainers", ANY, "resources"),
    ),
)


def roles(manifest: Manifest) -> Sequence[RolePods]:
    """Return the only role of a Job."""
    spec = manifest.get("spec") or {}
    return [
        RolePods(
            role(manifest) or "",
            int(spec.get("parallelism", 1)),
            spec.get("template") or {},
            ("spec", "template"),
            spec.get("activeDeadlineSeconds"),
            manifest["metadata"].get("name", ""),
            _subdomain(spec),
        )
    ]


def _subdomain(spec: dict[str, Any]) -> str | None:
    name: str | None = ((spec.get("template") or {}).get("spec") or {}).get("subdomain")
    return name


def progress(live: Manifest) -> Progress:
    """Return the progress of a Job."""
    status = live.get("status") or {}
    held = conditions(live)
    limit = live["spec"].get("activeDeadlineSeconds")
    if "Complete" in held:
        return Progress(True, True, "complete")
    if "Failed" in held:
        return Progress(True, False, f"failed: {reason(held['Failed'], limit)}")
    if "FailureTarget" in held:
        return Progress(False, False, f"failing: {reason(held['FailureTarget'], limit)}")
    if is_going(live):
        return Progress(False, False, "is being deleted")
    if "SuccessCriteriaMet" in held:
        return Progress(False, True, "finishing")
    if live["spec"].get("suspend"):
        return Progress(False, True, waiting(live))
    counted = {word: status.get(word, 0) for word in ("active", "succeeded", "failed")}
    shown = ", ".join(f"{count} {word}" for word, count in counted.items() if count)
    return Progress(False, True, shown or "no pods yet")


def counts(live: Manifest, children: Iterable[Manifest] = ()) -> Sequence[RoleState]:  # noqa: ARG001
    """Return the replicas of the role, as the Job controller counts them."""
    spec, status = live["spec"], live.get("status") or {}
    return [
        RoleState(
            role(live) or "",
            spec.get("completions", spec.get("parallelism", 1)),
            status.get("ready", 0),
            status.get("succeeded", 0),
            status.get("failed", 0),
        )
    ]


def started(live: Manifest) -> str | None:
    """Return when its pods were first allowed to start."""
    time: str | None = (live.get("status") or {}).get("startTime")
    return time


def finished(live: Manifest) -> str | None:
    """Return when it finished."""
    time: str | None = (live.get("status") or {}).get("completionTime")
    return time or since(live, "Failed")


def keep_seconds(manifest: Manifest) -> int | None:
    """Return how long it is kept after it finishes."""
    seconds: int | None = manifest["spec"].get("ttlSecondsAfterFinished")
    return seconds


def single(
    metadata: dict[str, Any], template: dict[str, Any], *, seconds: int, keep: int
) -> Manifest:
    """Return a Job of one pod, stopped after *seconds* and deleted *keep* seconds later."""
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.kind,
        "metadata": metadata,
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": keep,
            "template": template,
        },
    }
