"""The kind PaddleJob of `kubeflow.org/v1`: how to hold, start, stop and judge one."""

from paddlespec.runs.state import RoleState
from paddlespec.runs.values import Progress
from paddlespec.workloads.kind import Kind, Switch
from paddlespec.workloads.live import conditions, is_going, reason, since, started, waiting
from paddlespec.workloads.roles import RolePods

SUSPEND = Switch(("spec", "runPolicy", "suspend"), stopped=True, running=False)
KIND = Kind(
    api_version="kubeflow.org/v1",
    kind="PaddleJob",
    plural="paddlejobs",
    target="paddlejob",
    stop=SUSPEND,
    hold=SUSPEND,
    in_place=(("spec", "runPolicy"),),
)


def roles(manifest):
    """Return the pods of the only role."""
    template = manifest["spec"]["paddleReplicaSpecs"]["Worker"]["template"]
    return [RolePods("trainers", 1, template, ("spec", "paddleReplicaSpecs", "Worker", "template"))]


def progress(live):
    """Return whether it is done, whether it is well, and a short text."""
    current = conditions(live)
    if "Succeeded" in current:
        return Progress(True, True, "complete")
    if "Failed" in current:
        return Progress(True, False, f"failed: {reason(current['Failed'])}")
    if is_going(live):
        return Progress(False, False, "is being deleted")
    if SUSPEND.is_stopped(live):
        return Progress(False, True, waiting(live))
    return Progress(False, True, f"{counts(live)[0].ready} ready")


def counts(live, children=()):
    """Return the replicas of the role as the operator counts them."""
    workers = ((live.get("status") or {}).get("replicaStatuses") or {}).get("Worker") or {}
    counted = (workers.get(state, 0) for state in ("active", "succeeded", "failed"))
    return [RoleState("trainers", 1, *counted)]


def finished(live):
    """Return the time at which it finished, in RFC 3339."""
    return since(live, "Succeeded", "Failed")


def keep_seconds(manifest):
    """Return how long it is kept once finished, in seconds."""
    return manifest["spec"]["runPolicy"].get("ttlSecondsAfterFinished")
