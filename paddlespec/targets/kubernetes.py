"""
The target `kubernetes`: Jobs and headless Services, nothing to install in the cluster.

What only apply can know is left out: `suspend`, owner references, the set's label.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import contract
from paddlespec.contract import ROLES
from paddlespec.manifest import JOB_LABEL, ROLE_LABEL, in_apply_order
from paddlespec.quantity import seconds
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.pods import Replica, resources
from paddlespec.targets.sources import claim_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import Context, RoleName
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job
    from paddlespec.template import Templates

# The launcher gives its processes 30 seconds between TERM and KILL.
GRACE_SECONDS = 60
_KEEP = "7d"
_KEEP_PSERVERS = "1h"
# Trainers end by their own deadline first; the pservers' is for when nobody does.
_PSERVERS_LONGER = 600

Values = dict[str, Any]


class Plan(NamedTuple):
    """What is rendered: each a template's name and its values."""

    pieces: list[tuple[str, Values]]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """What plain Kubernetes cannot do."""
    scheduling = facts.job.spec.scheduling
    gang, queue = ("spec", "scheduling", "gang"), ("spec", "scheduling", "queue")
    if scheduling.gang and scheduling.scheduler == "default":
        hint = "choose `scheduler: volcano` or `scheduler: kueue`"
        yield facts.error("unsupported", "the default scheduler starts no gangs", gang, hint)
    if scheduling.gang and scheduling.scheduler == "kueue" and facts.job.spec.pservers:
        message = "to Kueue, trainers and pservers are two workloads, admitted one by one"
        hint = "leave `gang` out, or choose `scheduler: volcano`"
        yield facts.error("unsupported", message, gang, hint)
    if scheduling.queue and scheduling.scheduler == "default":
        hint = "choose `scheduler: kueue` or `scheduler: volcano`"
        yield facts.error("unsupported", "the default scheduler has no queues", queue, hint)


def keep_seconds(job: Job) -> int:
    """How long a finished job stays: pservers run on until then when no client stops them."""
    default = _KEEP_PSERVERS if job.spec.pservers else _KEEP
    return seconds(job.spec.policy.keep_finished or default)


def plan(job: Job, context: Context) -> Plan:
    """Decide everything that the templates lay out."""
    pieces: list[tuple[str, Values]] = []
    common = metadata_of(job, context)
    for volume in job.spec.volumes:
        if volume.claim is not None and not isinstance(volume.claim, str):
            metadata = common(claim_name(job, volume), None)
            pieces.append(("claim", {"metadata": metadata, "claim": volume.claim}))
    if context.code:
        name = f"{job.metadata.name}-code-{context.code.digest}"
        encoded = b2a_base64(context.code.content, newline=False).decode()
        pieces.append(("code", {"metadata": common(name, None), "archive": encoded}))
    if job.spec.scheduling.scheduler == "volcano":
        members = sum(contract.replicas(job, role) for role in ROLES)
        values = {"metadata": common(job.metadata.name, None), "members": members}
        pieces.append(("pod-group", {**values, "scheduling": job.spec.scheduling}))
    for role in ROLES:
        if getattr(job.spec, role):
            pieces += _role(job, role, context, common)
    return Plan(pieces)


def render(job: Job, context: Context, templates: Templates) -> list[Manifest]:
    """The objects of *job*, in the order in which they are applied."""
    pieces = plan(job, context).pieces
    return in_apply_order(
        [templates.render(f"kubernetes/{name}.yaml.j2", values) for name, values in pieces]
    )


def _role(job: Job, name: RoleName, context: Context, common: Any) -> list[tuple[str, Values]]:
    replica = Replica(job, name, context)
    own = contract.workload_name(job, name)
    metadata = common(own, name)
    found: list[tuple[str, Values]] = []
    if contract.meets(job):
        selector = {JOB_LABEL: job.metadata.name, ROLE_LABEL: name}
        values = {"metadata": metadata, "selector": selector, "ports": replica.ports()}
        found.append(("service", values))
    kind = "stateful-set" if replica.is_stateful else "job"
    values = {
        "metadata": _queued(job, metadata) if kind == "job" else metadata,
        "replicas": replica.role.replicas,
        "indexed": replica.indexed,
        "service": own if contract.meets(job) else None,
        "job": _job(job, name),
        "pod": _pod(replica),
    }
    found.append((kind, values))
    return found


def _queued(job: Job, metadata: Values) -> Values:
    scheduling = job.spec.scheduling
    if scheduling.scheduler != "kueue" or not scheduling.queue:
        return metadata
    labels = {**metadata["labels"], "kueue.x-k8s.io/queue-name": scheduling.queue}
    return {**metadata, "labels": labels}


def _job(job: Job, name: RoleName) -> Values:
    """The limits of a role's Job; replicas that meet cannot rejoin, so none is tried again."""
    policy = job.spec.policy
    alone = not contract.meets(job)
    deadline = seconds(policy.timeout) if policy.timeout else None
    if name == "pservers" and deadline:
        deadline += _PSERVERS_LONGER
    return {
        "retries": policy.retries if alone and job.spec.mode == "collective" else 0,
        # Replicas that know nothing of each other are tried again one by one, without a limit
        # for all of them together.
        "retries_per_index": policy.retries if job.spec.mode == "parallel" else 0,
        "deadline": deadline,
        "keep": keep_seconds(job) if name == "trainers" else None,
    }


def _pod(replica: Replica) -> Values:
    spec, role = replica.job.spec, replica.role
    volcano = spec.scheduling.scheduler == "volcano"
    labels = {
        "app.kubernetes.io/name": replica.job.metadata.name,
        "app.kubernetes.io/managed-by": "paddlespec",
        JOB_LABEL: replica.job.metadata.name,
        ROLE_LABEL: replica.name,
        "sidecar.istio.io/inject": "false",
    }
    group = {"scheduling.k8s.io/group-name": replica.job.metadata.name}
    return {
        "labels": labels,
        "annotations": group if volcano else None,
        "image": replica.image,
        "pull_policy": spec.image_pull_policy,
        "pull_secret": spec.registry,
        "command": replica.command(),
        "workdir": spec.workdir,
        "env": replica.env(),
        "ports": replica.ports(),
        "probe": contract.pserver_ports(replica.job)[0] if replica.name == "pservers" else None,
        "resources": resources(role.resources),
        "mounts": replica.volume_mounts(),
        "volumes": replica.volumes(),
        "init": replica.init_containers(),
        "node_selector": role.node_selector,
        "tolerations": [_toleration(each) for each in role.tolerations],
        "affinity": role.affinity,
        "priority": spec.scheduling.priority,
        "scheduler": "volcano" if volcano else None,
        "grace": GRACE_SECONDS,
    }


def _toleration(toleration: Any) -> Values:
    found = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {key: value for key, value in found.items() if value is not None}
