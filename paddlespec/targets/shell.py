"""
A scratch container: what surrounds a replica of a job, without the job.

It is made of what was rendered, or of what is live, so that image, mounts, environment and code are
the replica's own. What makes it a part of the job is left out: peers, waiting, labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import contract
from paddlespec.manifest import JOB_LABEL, ROLE_LABEL, Manifest, role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHELL_LABEL = "paddlespec.io/shell"
# How long the Job stays after its time, for whoever looks.
KEEP_SECONDS = 10
_GRACE_SECONDS = 5
_MAIN = "paddle"
# They wait for peers, or look after results.
_STEPS = ("wait-for-pservers", "output")
_LABELS = (JOB_LABEL, ROLE_LABEL, "controller-uid", "job-name")
_PREFIXES = ("batch.kubernetes.io/", "applyset.kubernetes.io/")
_GANG = "scheduling.k8s.io/group-name"
_ALONE = ("PADDLESPEC_", "PADDLE_CLOUD_")

Values = dict[str, Any]


def workload(manifests: Sequence[Manifest], name: str) -> Manifest | None:
    """What runs the role *name*, among the objects of a job."""
    kinds = ("Job", "StatefulSet")
    return next((each for each in manifests if each["kind"] in kinds and role(each) == name), None)


def scratch(
    source: Manifest, code: Sequence[Manifest], job: str, name: str, seconds: int
) -> list[Manifest]:
    """
    The Job *name*, which surely ends after so many seconds, and copies of the ConfigMaps *code*.

    *source* is the workload of a role of *job*.
    """
    names = {each["metadata"]["name"]: f"{name}-{n}" for n, each in enumerate(code, 1)}
    labels = {**_labels(source["metadata"]), SHELL_LABEL: job}
    space = source["metadata"].get("namespace")
    place = {"namespace": space} if space else {}
    template = source["spec"]["template"]
    annotations = {
        key: value
        for key, value in (template["metadata"].get("annotations") or {}).items()
        if key != _GANG
    }
    pod = {
        "labels": {**_labels(template["metadata"]), SHELL_LABEL: job},
        **({"annotations": annotations} if annotations else {}),
    }
    whole = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, **place, "labels": labels},
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": KEEP_SECONDS,
            "template": {"metadata": pod, "spec": _pod(template["spec"], names, seconds)},
        },
    }
    copies = [
        {**each, "metadata": {"name": names[each["metadata"]["name"]], **place, "labels": labels}}
        for each in code
    ]
    return [whole, *copies]


def _labels(metadata: Values) -> Values:
    return {
        key: value
        for key, value in (metadata.get("labels") or {}).items()
        if key not in _LABELS and not key.startswith(_PREFIXES)
    }


def _pod(spec: Values, names: Mapping[str, str], seconds: int) -> Values:
    steps = [each for each in spec.get("initContainers") or () if each["name"] not in _STEPS]
    found = {
        **spec,
        "subdomain": None,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "initContainers": list(map(_alone, steps)),
        "containers": [
            _idle(each, seconds) if each["name"] == _MAIN else _alone(each)
            for each in spec["containers"]
        ],
        "volumes": [_renamed(each, names) for each in spec.get("volumes") or ()],
    }
    return {key: value for key, value in found.items() if value not in (None, [])}


def _idle(container: Values, seconds: int) -> Values:
    """The main container, which does nothing until its time is over or somebody ends it."""
    left_out = ("args", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle")
    wait = f"trap 'exit 0' TERM INT; sleep {seconds} & wait"
    found = {key: value for key, value in _alone(container).items() if key not in left_out}
    return {**found, "command": ["sh", "-c", wait]}


def _alone(container: Values) -> Values:
    """A container without the variables by which replicas find each other; it is the first."""
    if not container.get("env"):
        return container
    env = [
        {"name": "IDX", "value": "0"} if each["name"] == "IDX" else each
        for each in container["env"]
        if each["name"] in ("IDX", "NS")
        or each["name"].startswith(_ALONE)
        or not contract.is_managed(each["name"])
    ]
    return {**container, "env": env}


def _renamed(volume: Values, names: Mapping[str, str]) -> Values:
    source = volume.get("configMap")
    if not source or source.get("name") not in names:
        return volume
    return {**volume, "configMap": {**source, "name": names[source["name"]]}}
