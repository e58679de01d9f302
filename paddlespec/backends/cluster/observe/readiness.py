"""The progress of single objects: pure functions of what the API server stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.why import (
    container,
    ended,
    gang,
    placement,
)
from paddlespec.runs.values import Progress
from paddlespec.workloads.live import conditions

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest


def pod(live: Manifest) -> Progress:
    """Return the progress of a pod: done means that it is running or has ended."""
    phase = (live.get("status") or {}).get("phase")
    if phase == "Failed":
        return Progress(True, False, ended.ending(live))
    if phase == "Succeeded":
        return Progress(True, True, "ended")
    if workloads.is_going(live):
        return Progress(False, True, "is ending")
    stuck = next(container.stuck(live), None)
    if stuck is not None:
        return Progress(False, False, stuck)
    held = conditions(live)
    if phase == "Running":
        return Progress("Ready" in held, True, "ready" if "Ready" in held else "not ready yet")
    if unplaced := placement.unplaced(live):
        return Progress(False, False, placement.summary(unplaced))
    if "PodScheduled" in conditions(live, "False"):
        return Progress(False, True, "waits to be scheduled")
    return Progress(False, True, "starting")


def claim(live: Manifest, *, waits_for_consumer: bool = False) -> Progress:
    """Return the progress of a claim; some storage classes wait for a pod that uses it."""
    phase = (live.get("status") or {}).get("phase", "Pending")
    if phase == "Bound":
        return Progress(True, True, "bound")
    if phase == "Lost":
        return Progress(True, False, "has lost its volume")
    if waits_for_consumer:
        return Progress(True, True, "provided when a pod asks")
    return Progress(False, True, "waits for a volume")


def pod_group(live: Manifest) -> Progress:
    """Return the progress of a gang: Volcano starts all of its pods or none."""
    if workloads.is_going(live):
        return Progress(False, False, "is being deleted")
    cause = gang.waits_for(live)
    if cause is None:
        phase = str(live["status"]["phase"])
        return Progress(True, True, phase.lower())
    return Progress(False, cause in gang.PASSING, cause)
