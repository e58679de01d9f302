"""
The target `jobset`: all roles of a job as one JobSet, which needs its controller in the cluster.

The controller stops the other roles with the trainers, and restarts all roles together; for Kueue the
job is one workload. As for `kubernetes`, fields that only apply can know are not rendered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.quantity import seconds
from paddlespec.render import roles, runtime
from paddlespec.render.manifest import JOB_LABEL, ROLE_LABEL
from paddlespec.render.runtime import Naming
from paddlespec.targets.beside import beside
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.pod_template import pod_values
from paddlespec.targets.pods import Replica
from paddlespec.targets.scheduling import check_scheduling, queued
from paddlespec.workloads.order import in_apply_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job
    from paddlespec.render.manifest import Manifest
    from paddlespec.render.roles import RoleName
    from paddlespec.render.runtime import Context
    from paddlespec.render.template import Templates
    from paddlespec.targets.beside import Piece

backend = "cluster"
# The run survives restarts, which create a new Job for every role.
naming = Naming(
    host="{job}-{role}-0-{index}",
    service="{job}",
    run="metadata.labels['jobset.sigs.k8s.io/jobset-uid']",
)
_KEEP = "7d"
# Trainers reach their own deadline first.
_OTHERS_LONGER = 600

Values = dict[str, Any]


class Plan(NamedTuple):
    """The objects beside the set, the set, and the Job of each role."""

    beside: list[Piece]
    job_set: Values
    roles: list[Values]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Report fields that a JobSet does not support."""
    yield from check_scheduling(facts)
    pservers = facts.job.spec.pservers
    if pservers and workloads.restarts(pservers.workload):
        message = f"a JobSet does not support the workload {pservers.workload}"
        path = ("spec", "pservers", "workload")
        hint = "remove `workload`; `policy.retries` restarts all roles together"
        yield facts.error("unsupported", message, path, hint)


def keep_seconds(job: Job) -> int:
    """Return how long to keep a finished job."""
    return seconds(job.spec.policy.keep_finished or _KEEP)


def plan(job: Job, context: Context) -> Plan:
    """Compute the values of all templates."""
    context = context._replace(naming=naming)
    metadata = metadata_of(job, context)(job.metadata.name, None)
    restarts = 0 if job.spec.mode == "parallel" else job.spec.policy.retries
    job_set = {
        "metadata": queued(job, metadata),
        "meets": runtime.has_hosts(job),
        "restarts": restarts,
        "keep": keep_seconds(job),
    }
    # A role follows those it may depend on: trainers depend on pservers.
    order = sorted(roles.names(job.spec), key=lambda name: name != "pservers")
    return Plan(beside(job, context), job_set, [_role(job, name, context) for name in order])


def render(job: Job, context: Context, templates: Templates) -> list[Manifest]:
    """Render the objects of *job* in the order in which they are applied."""
    planned = plan(job, context)
    replicated = [
        {
            "name": role["name"],
            "after": role["after"],
            "template": _template(templates.render("jobset/job.yaml.j2", role["job"])),
        }
        for role in planned.roles
    ]
    objects = [templates.render(f"{name}.yaml.j2", values) for name, values in planned.beside]
    objects.append(
        templates.render("jobset/job-set.yaml.j2", {**planned.job_set, "roles": replicated})
    )
    return in_apply_order(objects)


def _role(job: Job, name: RoleName, context: Context) -> Values:
    replica = Replica(job, name, context)
    pod = pod_values(replica)
    if job.spec.mode == "ps":
        # The first pserver of fleet opens its port only once all trainers have connected.
        pod["probe"] = None
    labels = {
        "app.kubernetes.io/name": job.metadata.name,
        "app.kubernetes.io/managed-by": "paddlespec",
        JOB_LABEL: job.metadata.name,
        ROLE_LABEL: name,
    }
    # A gang starts all of its pods or none, so no role can wait for another to start.
    gang = job.spec.scheduling.scheduler == "volcano"
    return {
        "name": name,
        "after": "pservers" if name == "trainers" and job.spec.pservers and not gang else None,
        "job": {
            "metadata": {"name": job.metadata.name, "labels": labels},
            "replicas": replica.role.replicas,
            "indexed": True,
            "service": None,
            "job": _limits(job, name),
            "pod": pod,
        },
    }


def _limits(job: Job, name: RoleName) -> Values:
    """Return the limits of a role's Job; one failure restarts the whole set."""
    policy = job.spec.policy
    deadline = seconds(policy.timeout) if policy.timeout else None
    if name != "trainers" and deadline:
        deadline += _OTHERS_LONGER
    return {
        "retries": 0,
        "retries_per_index": policy.retries if job.spec.mode == "parallel" else 0,
        "deadline": deadline,
        "keep": None,
    }


def _template(job: Manifest) -> Values:
    """Return a Job as a part of the set, which names it."""
    return {"metadata": {"labels": job["metadata"]["labels"]}, "spec": job["spec"]}
