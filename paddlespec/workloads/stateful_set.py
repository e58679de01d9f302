"""StatefulSet of `apps/v1`: pservers that come again when they are lost, and never end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.render.manifest import role
from paddlespec.runs.state import RoleState
from paddlespec.runs.values import Progress
from paddlespec.workloads.kind import Kind, Switch
from paddlespec.workloads.live import is_going
from paddlespec.workloads.roles import RolePods

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.render.manifest import Manifest

KIND = Kind(
    api_version="apps/v1",
    kind="StatefulSet",
    plural="statefulsets",
    target="kubernetes",
    stop=Switch(("spec", "replicas"), stopped=0),
    in_place=(
        ("spec", "replicas"),
        ("spec", "ordinals"),
        ("spec", "template"),
        ("spec", "updateStrategy"),
        ("spec", "revisionHistoryLimit"),
        ("spec", "persistentVolumeClaimRetentionPolicy"),
        ("spec", "minReadySeconds"),
    ),
    restarting=(("spec", "template"),),
    # The revision label of its pods is its name and eleven characters more; the API server takes a
    # longer name and then makes no pod.
    longest_name=52,
)


def roles(manifest: Manifest) -> Sequence[RolePods]:
    """The one role that a StatefulSet runs."""
    spec = manifest.get("spec") or {}
    replicas = int(spec.get("replicas", 1))
    template = spec.get("template") or {}
    return [
        RolePods(
            role(manifest) or "",
            replicas,
            template,
            ("spec", "template"),
            host=manifest["metadata"].get("name", ""),
            service=spec.get("serviceName"),
        )
    ]


def progress(live: Manifest) -> Progress:
    """How far a StatefulSet is; it never has a verdict."""
    if is_going(live):
        return Progress(False, False, "is being deleted")
    status = live.get("status") or {}
    desired = live["spec"].get("replicas", 1)
    current = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    ready = status.get("readyReplicas", 0) if current else 0
    settled = ready >= desired and status.get("replicas", 0) <= desired
    return Progress(current and settled, True, f"{ready}/{desired} ready")


def counts(live: Manifest, children: Iterable[Manifest] = ()) -> Sequence[RoleState]:  # noqa: ARG001
    """The replicas of the role that are ready."""
    status = live.get("status") or {}
    desired = live["spec"].get("replicas", 1)
    return [RoleState(role(live) or "", desired, status.get("readyReplicas", 0))]


def started(live: Manifest) -> str | None:
    """Its pods start when it is created."""
    time: str | None = live["metadata"].get("creationTimestamp")
    return time


def finished(live: Manifest) -> str | None:  # noqa: ARG001
    """Never."""
    return None


def keep_seconds(manifest: Manifest) -> int | None:  # noqa: ARG001
    """It stays until its owner goes."""
    return None
