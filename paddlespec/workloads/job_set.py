"""
JobSet of `jobset.x-k8s.io`: all roles of a run as one object.

Its controller creates a Job for each role, named `<set>-<role>-0`, restarts all of them when one
fails, and stops the pservers when the trainers are done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.runs.state import RoleState
from paddlespec.runs.values import Progress
from paddlespec.workloads import job
from paddlespec.workloads.kind import ANY, Kind, Switch
from paddlespec.workloads.live import conditions, is_going, reason, since, waiting
from paddlespec.workloads.roles import RolePods

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.render.manifest import Manifest

_SUSPEND = Switch(("spec", "suspend"), stopped=True, running=False)
_TEMPLATE = ("spec", "replicatedJobs", ANY, "template", "spec", "template")
# Mutable fields of JobSet 0.11.
KIND = Kind(
    api_version="jobset.x-k8s.io/v1alpha2",
    kind="JobSet",
    plural="jobsets",
    target="jobset",
    stop=_SUSPEND,
    hold=_SUSPEND,
    creates=(job.KIND.type,),
    ends_servers=True,
    in_place=(("spec", "suspend"), ("spec", "ttlSecondsAfterFinished")),
    while_suspended=(
        (*_TEMPLATE, "metadata", "labels"),
        (*_TEMPLATE, "metadata", "annotations"),
        (*_TEMPLATE, "spec", "nodeSelector"),
        (*_TEMPLATE, "spec", "tolerations"),
        (*_TEMPLATE, "spec", "schedulingGates"),
    ),
    # Its webhook appends the six characters that distinguish pods.
    longest_host=57,
)


def roles(manifest: Manifest) -> Sequence[RolePods]:
    """Return the roles of the set, in its order."""
    return [
        RolePods(
            part["name"],
            int(part.get("replicas", 1)) * int(part["template"]["spec"].get("parallelism", 1)),
            part["template"]["spec"]["template"],
            ("spec", "replicatedJobs", part["name"], "template", "spec", "template"),
            part["template"]["spec"].get("activeDeadlineSeconds"),
            f"{manifest['metadata'].get('name')}-{part['name']}-0",
            _service(manifest),
        )
        for part in (manifest.get("spec") or {}).get("replicatedJobs") or ()
    ]


def _service(manifest: Manifest) -> str | None:
    """Return the headless Service the controller creates, unless the spec disables it."""
    network = manifest["spec"].get("network") or {}
    if not network.get("enableDNSHostnames", True):
        return None
    name: str | None = network.get("subdomain") or manifest["metadata"].get("name")
    return name


def progress(live: Manifest) -> Progress:
    """Return the progress of a JobSet."""
    held = conditions(live)
    if "Completed" in held:
        return Progress(True, True, "complete")
    if "Failed" in held:
        return Progress(True, False, f"failed: {reason(held['Failed'])}")
    if is_going(live):
        return Progress(False, False, "is being deleted")
    if live["spec"].get("suspend"):
        return Progress(False, True, waiting(live))
    status = live.get("status") or {}
    parts = [
        f"{part['name']} {part.get('ready', 0) + part.get('succeeded', 0)} ready"
        for part in status.get("replicatedJobsStatus") or ()
    ]
    restarts = status.get("restarts") or 0
    parts += [f"{restarts} restarts"] if restarts else []
    return Progress(False, True, ", ".join(parts) or "no jobs yet")


def counts(live: Manifest, children: Iterable[Manifest] = ()) -> Sequence[RoleState]:
    """
    Count the replicas of each role by its Job; the status of the set counts only Jobs.

    A Job is ready when all of its pods are ready. The Job of the pservers is deleted at the end.
    """
    known = {state.name: state for child in children for state in job.counts(child)}
    listed = (live.get("status") or {}).get("replicatedJobsStatus") or ()
    status = {part["name"]: part for part in listed}
    states = []
    for pods in roles(live):
        own = status.get(pods.role, {})
        ready, succeeded = own.get("ready", 0), own.get("succeeded", 0)
        whole = RoleState(
            pods.role,
            pods.replicas,
            pods.replicas if ready and not succeeded else 0,
            pods.replicas if succeeded else 0,
        )
        states.append(known.get(pods.role, whole))
    return states


def started(live: Manifest) -> str | None:
    """Return when it was resumed, or else when it was created."""
    if live["spec"].get("suspend"):
        return None
    resumed = conditions(live, "False").get("Suspended", {}).get("lastTransitionTime")
    time: str | None = resumed or live["metadata"].get("creationTimestamp")
    return time


def finished(live: Manifest) -> str | None:
    """Return when it finished."""
    return since(live, "Completed", "Failed")


def keep_seconds(manifest: Manifest) -> int | None:
    """Return how long it is kept after it finishes."""
    seconds: int | None = manifest["spec"].get("ttlSecondsAfterFinished")
    return seconds
