"""The values of a pod template, for all targets that render pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.render import pod_settings, ports, runtime
from paddlespec.render.manifest import JOB_LABEL, ROLE_LABEL
from paddlespec.render.resources import claim, resources
from paddlespec.targets import fabric
from paddlespec.targets.program import arguments

if TYPE_CHECKING:
    from paddlespec.render.template import Templates
    from paddlespec.targets.pods import Replica

# The launcher waits 30 seconds between SIGTERM and SIGKILL to its processes.
GRACE_SECONDS = 60
_ISTIO = "sidecar.istio.io/inject"

Values = dict[str, Any]


def pod_values(replica: Replica) -> Values:
    """Compute the values of the pod template."""
    spec, role = replica.job.spec, replica.role
    volcano = spec.scheduling.scheduler == "volcano"
    settings = pod_settings.settings(replica.job, replica.name)
    group = {"scheduling.k8s.io/group-name": replica.job.metadata.name} if volcano else {}
    return {
        "labels": labels_of(replica),
        "annotations": {**pod_settings.pod_annotations(replica.job, replica.name), **group},
        "service_account": settings.get("serviceAccount"),
        "token": settings.get("automountServiceAccountToken", False),
        "context": pod_settings.pod_context(replica.job, replica.name),
        "container_context": pod_settings.container_context(
            replica.job, replica.name, fabric.capabilities(replica.job, replica.name)
        ),
        "runtime_class": settings.get("runtimeClass"),
        "host_ipc": settings.get("hostIPC"),
        "host_aliases": settings.get("hostAliases"),
        "image": replica.image,
        "pull_policy": spec.image_pull_policy,
        "pull_secret": spec.registry,
        "command": replica.command(),
        "args": arguments(replica.job, replica.name),
        "workdir": runtime.workdir(replica.job),
        "env": [*replica.env(), *replica.fabric_env()],
        "env_from": replica.env_from(),
        "ports": replica.ports(),
        "host_network": spec.network.host,
        "probe": ports.of(replica.job).pserver if replica.name == "pservers" else None,
        "resources": resources(role.resources, fabric.devices(replica.job, replica.name)),
        "claims": [claim(own) for own in role.resources.claims],
        "mounts": replica.volume_mounts(),
        "volumes": replica.volumes(),
        "init": replica.init_containers(),
        "node_selector": role.node_selector,
        "tolerations": [_toleration(toleration) for toleration in role.tolerations],
        "affinity": role.affinity,
        "priority": spec.scheduling.priority,
        "scheduler": "volcano" if volcano else None,
        "grace": GRACE_SECONDS,
    }


def labels_of(replica: Replica) -> dict[str, str]:
    """Return the labels of the pods."""
    own = pod_settings.pod_labels(replica.job, replica.name)
    return {
        **own,
        "app.kubernetes.io/name": replica.job.metadata.name,
        "app.kubernetes.io/managed-by": "paddlespec",
        JOB_LABEL: replica.job.metadata.name,
        ROLE_LABEL: replica.name,
        _ISTIO: own.get(_ISTIO, "false"),
    }


def pod_template(replica: Replica, templates: Templates) -> Values:
    """Render the pod template of *replica* alone, for a workload without a template of its own."""
    values = {
        "metadata": {"name": replica.job.metadata.name},
        "replicas": replica.role.replicas,
        "indexed": replica.indexed,
        "service": None,
        "job": {"retries": 0, "retries_per_index": 0, "deadline": None, "keep": None},
        "pod": pod_values(replica),
    }
    template: Values = templates.render("kubernetes/job.yaml.j2", values)["spec"]["template"]
    return template


def _toleration(toleration: Any) -> Values:
    values = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {key: value for key, value in values.items() if value is not None}
