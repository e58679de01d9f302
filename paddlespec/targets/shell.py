"""
Build a scratch container: the environment of a replica, without the job.

It is built from rendered or live objects, so image, mounts, environment and code are those of the
replica. Everything that connects it to the job is removed: peers, waiting, sidecars, and labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.render import environment
from paddlespec.render.manifest import JOB_LABEL, ROLE_LABEL, Manifest
from paddlespec.workloads.job import single

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.workloads import RolePods

SHELL_LABEL = "paddlespec.io/shell"
# How long to keep the finished Job for inspection.
KEEP_SECONDS = 10
_GRACE_SECONDS = 5
_MAIN = "paddle"
# These wait for peers or prepare the results folder.
_STEPS = ("wait-for-pservers", "output")
_LABELS = (JOB_LABEL, ROLE_LABEL, "controller-uid", "job-name")
_PREFIXES = ("batch.kubernetes.io/", "applyset.kubernetes.io/")
_GANG = "scheduling.k8s.io/group-name"
_KEPT_PREFIXES = ("PADDLESPEC_", "PADDLE_CLOUD_")

Values = dict[str, Any]


class Source(NamedTuple):
    """The pods of a role, and the object that runs them."""

    workload: Manifest
    pods: RolePods


def workload(manifests: Sequence[Manifest], name: str) -> Source | None:
    """Find the workload of the role *name* among the objects of a job."""
    sources = (Source(*running) for running in workloads.roles(manifests))
    return next((source for source in sources if source.pods.role == name), None)


def scratch(
    source: Source, code: Sequence[Manifest], job: str, name: str, seconds: int
) -> list[Manifest]:
    """
    Return the Job *name* with a deadline in seconds, and copies of the ConfigMaps *code*.

    *source* runs a role of *job*.
    """
    names = {config_map["metadata"]["name"]: f"{name}-{n}" for n, config_map in enumerate(code, 1)}
    metadata = source.workload["metadata"]
    labels = {**_labels(metadata), SHELL_LABEL: job}
    space = metadata.get("namespace")
    place = {"namespace": space} if space else {}
    pod_metadata = source.pods.template.get("metadata") or {}
    annotations = {
        key: value for key, value in (pod_metadata.get("annotations") or {}).items() if key != _GANG
    }
    pod = {
        "labels": {**_labels(pod_metadata), SHELL_LABEL: job},
        **({"annotations": annotations} if annotations else {}),
    }
    container_job = single(
        {"name": name, **place, "labels": labels},
        {"metadata": pod, "spec": _pod(source.pods.pod, names, seconds)},
        seconds=seconds,
        keep=KEEP_SECONDS,
    )
    copies = [
        {
            **config_map,
            "metadata": {"name": names[config_map["metadata"]["name"]], **place, "labels": labels},
        }
        for config_map in code
    ]
    return [container_job, *copies]


def _labels(metadata: Values) -> Values:
    return {
        key: value
        for key, value in (metadata.get("labels") or {}).items()
        if key not in _LABELS and not key.startswith(_PREFIXES)
    }


def _pod(spec: Values, names: Mapping[str, str], seconds: int) -> Values:
    steps = [
        step
        for step in spec.get("initContainers") or ()
        if step["name"] not in _STEPS and step.get("restartPolicy") != "Always"
    ]
    fields = {
        **spec,
        "subdomain": None,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "initContainers": list(map(_without_peers, steps)),
        "containers": [
            _idle(container, seconds) if container["name"] == _MAIN else _without_peers(container)
            for container in spec["containers"]
        ],
        "volumes": [_renamed(volume, names) for volume in spec.get("volumes") or ()],
    }
    return {key: value for key, value in fields.items() if value not in (None, [])}


def _idle(container: Values, seconds: int) -> Values:
    """Return the main container with a command that sleeps until the deadline or a signal."""
    removed = ("args", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle")
    wait = f"trap 'exit 0' TERM INT; sleep {seconds} & wait"
    fields = {key: value for key, value in _without_peers(container).items() if key not in removed}
    return {**fields, "command": ["sh", "-c", wait]}


def _without_peers(container: Values) -> Values:
    """Remove the variables by which replicas find each other, and set the index to 0."""
    if not container.get("env"):
        return container
    env = [
        {"name": "IDX", "value": "0"} if variable["name"] == "IDX" else variable
        for variable in container["env"]
        if variable["name"] in ("IDX", "NS")
        or variable["name"].startswith(_KEPT_PREFIXES)
        or not environment.is_managed(variable["name"])
    ]
    return {**container, "env": env}


def _renamed(volume: Values, names: Mapping[str, str]) -> Values:
    source = volume.get("configMap")
    if not source or source.get("name") not in names:
        return volume
    return {**volume, "configMap": {**source, "name": names[source["name"]]}}
