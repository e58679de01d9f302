"""StatefulSet of `apps/v1`: pservers that are recreated when lost, and never complete."""

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
    # The revision label of its pods is its name plus eleven characters. The API server accepts a
    # longer name, but then no pod can be created.
    longest_name=52,
)


def roles(manifest: Manifest) -> Sequence[RolePods]:
    """Return the only role of a StatefulSet."""
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
    """Return the progress of a StatefulSet; it never has a verdict."""
    if is_going(live):
        return Progress(False, False, "is being deleted")
    status = live.get("status") or {}
    desired = live["spec"].get("replicas", 1)
    current = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    ready = status.get("readyReplicas", 0) if current else 0
    settled = ready >= desired and status.get("replicas", 0) <= desired
    return Progress(current and settled, True, f"{ready}/{desired} ready")


def counts(live: Manifest, children: Iterable[Manifest] = ()) -> Sequence[RoleState]:  # noqa: ARG001
    """Count the ready replicas of the role."""
    status = live.get("status") or {}
    desired = live["spec"].get("replicas", 1)
    return [RoleState(role(live) or "", desired, status.get("readyReplicas", 0))]


def started(live: Manifest) -> str | None:
    """Return when it was created, because its pods start then."""
    time: str | None = live["metadata"].get("creationTimestamp")
    return time


def finished(live: Manifest) -> str | None:  # noqa: ARG001
    """Return None, because it never finishes."""
    return None


def keep_seconds(manifest: Manifest) -> int | None:  # noqa: ARG001
    """Return None, because it exists as long as its owner."""
    return None
