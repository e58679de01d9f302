"""
The target `kubernetes`: Jobs and headless Services, without components to install in the cluster.

Fields that only `apply` can know are not rendered: `suspend`, owner references, the label of the
ApplySet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.quantity import seconds
from paddlespec.render import roles, runtime
from paddlespec.render.manifest import JOB_LABEL, ROLE_LABEL
from paddlespec.targets.beside import beside
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.pod_template import pod_values
from paddlespec.targets.pods import Replica
from paddlespec.targets.scheduling import GANG, check_scheduling, queued
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
naming = runtime.PER_ROLE

_KEEP = "7d"
_KEEP_OTHERS = "1h"
# Other roles get a later deadline than trainers, in case no client stops them.
_EXTRA_SECONDS = 600

Values = dict[str, Any]


class Plan(NamedTuple):
    """The names of the templates to render, with their values."""

    pieces: list[Piece]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Report fields that plain Kubernetes does not support."""
    yield from check_scheduling(facts)
    scheduling = facts.job.spec.scheduling
    if scheduling.gang and scheduling.scheduler == "kueue" and _others(facts.job):
        message = f"Kueue admits {' and '.join(roles.names(facts.job.spec))} separately"
        hint = "use `target: jobset`, which is a single workload, or `scheduler: volcano`"
        yield facts.error("unsupported", message, GANG, hint)


def keep_seconds(job: Job) -> int:
    """Return how long to keep a finished job; other roles run until then unless a client acts."""
    default = _KEEP_OTHERS if _others(job) else _KEEP
    return seconds(job.spec.policy.keep_finished or default)


def _others(job: Job) -> bool:
    """Whether a job has roles that do not end with the trainers by themselves."""
    return len(roles.names(job.spec)) > 1


def plan(job: Job, context: Context) -> Plan:
    """Compute the values of all templates."""
    pieces = beside(job, context)
    common = metadata_of(job, context)
    for role in roles.names(job.spec):
        pieces += _role(job, role, context, common)
    return Plan(pieces)


def render(job: Job, context: Context, templates: Templates) -> list[Manifest]:
    """Render the objects of *job* in the order in which they are applied."""
    pieces = plan(job, context).pieces
    return in_apply_order([templates.render(f"{name}.yaml.j2", values) for name, values in pieces])


def _role(job: Job, name: RoleName, context: Context, common: Any) -> list[Piece]:
    replica = Replica(job, name, context)
    workload = runtime.workload_name(job, name)
    metadata = common(workload, name)
    pieces: list[Piece] = []
    if runtime.has_hosts(job):
        selector = {JOB_LABEL: job.metadata.name, ROLE_LABEL: name}
        values = {"metadata": metadata, "selector": selector, "ports": replica.ports()}
        pieces.append(("kubernetes/service", values))
    kind = "stateful-set" if replica.is_stateful else "job"
    values = {
        "metadata": queued(job, metadata) if kind == "job" else metadata,
        "replicas": replica.role.replicas,
        "indexed": replica.indexed,
        "service": workload if runtime.has_hosts(job) else None,
        "job": _job(job, name),
        "pod": pod_values(replica),
    }
    pieces.append((f"kubernetes/{kind}", values))
    return pieces


def _job(job: Job, name: RoleName) -> Values:
    """Return the limits of a Job; replicas that communicate are not retried: they cannot rejoin."""
    policy = job.spec.policy
    is_alone = not runtime.meets(job)
    deadline = seconds(policy.timeout) if policy.timeout else None
    if name != "trainers" and deadline:
        deadline += _EXTRA_SECONDS
    return {
        "retries": policy.retries if is_alone and job.spec.mode == "collective" else 0,
        # Independent replicas are retried individually, without a common limit.
        "retries_per_index": policy.retries if job.spec.mode == "parallel" else 0,
        "deadline": deadline,
        "keep": keep_seconds(job) if name == "trainers" else None,
    }
