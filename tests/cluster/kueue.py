"""Quotas, queues and plain Jobs for tests with the real Kueue."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from user import User

VERSION = "kueue.x-k8s.io/v1beta2"
KUEUE = f"/apis/{VERSION}"
QUEUE = "night"
# Every fake node has this label, so the node selector of the flavor excludes none.
NODE_LABELS = {"node.kubernetes.io/instance-type": "test"}
MARK = "paddlespec.io/test-"
# The garbage collector looks for new kinds every 30 s, and removes workloads of deleted Jobs.
COLLECTED_SECONDS = 60.0


@contextmanager
def quota(user: User, spec: Mapping[str, Any]) -> Iterator[str]:
    """
    A local queue in the user's namespace; its cluster queue is named after the namespace.

    The cluster queue is deleted with its last workload, which is deleted with the namespace.
    """
    own = user.namespace
    flavors = [flavor["name"] for group in spec["resourceGroups"] for flavor in group["flavors"]]
    for flavor in flavors:
        # Flavors are cluster-wide, and another test may have created this one.
        with suppress(HTTPError):
            create(user, "resourceflavors", "ResourceFlavor", flavor, {"nodeLabels": NODE_LABELS})
    create(user, "clusterqueues", "ClusterQueue", own, {"namespaceSelector": {}, **spec})
    local_queue = {"clusterQueue": own}
    create(user, f"namespaces/{own}/localqueues", "LocalQueue", QUEUE, local_queue)
    user.plane.eventually(lambda: holds(user.get("localqueues", QUEUE), "Active"))
    yield QUEUE
    user.plane.request("DELETE", f"{KUEUE}/clusterqueues/{own}")


def one_flavor(cpu: int) -> dict[str, Any]:
    """Return the spec of a cluster queue with *cpu* cores, and memory for every test."""
    resources = [
        {"name": "cpu", "nominalQuota": str(cpu)},
        {"name": "memory", "nominalQuota": "64Gi"},
    ]
    return {
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "memory"],
                "flavors": [{"name": "spot", "resources": resources}],
            }
        ]
    }


def create(user: User, path: str, kind: str, name: str, spec: Mapping[str, Any]) -> None:
    manifest = {"apiVersion": VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
    user.plane.request("POST", f"{KUEUE}/{path}", manifest)


def create_priority(user: User, name: str, value: int) -> None:
    """Create a cluster-wide priority class for workloads."""
    kind = {"apiVersion": VERSION, "kind": "WorkloadPriorityClass"}
    manifest = {**kind, "metadata": {"name": name}, "value": value}
    user.plane.request("POST", f"{KUEUE}/workloadpriorityclasses", manifest)


def stop(user: User, policy: str) -> None:
    """Set the `stopPolicy` of the user's cluster queue: `HoldAndDrain`, `Hold` or `None`."""
    patch = f'{{"spec": {{"stopPolicy": "{policy}"}}}}'
    user.plane.kubectl("patch", "clusterqueue", user.namespace, "--type=merge", "-p", patch)


def submit(
    user: User, name: str, *, pods: int = 2, cpu: str = "1", priority: str = "", **marks: str
) -> None:
    """Create a plain Job in the queue, as tools other than paddlespec do."""
    labels = {"kueue.x-k8s.io/queue-name": QUEUE}
    if priority:
        labels["kueue.x-k8s.io/priority-class"] = priority
    spec = job_spec(pods=pods, cpu=cpu, marks=marks)
    manifest = {"metadata": {"name": name, "labels": labels}, "spec": spec}
    user.plane.request("POST", user.path("jobs"), manifest)


def job_spec(
    role: str = "", *, pods: int = 2, cpu: str = "1", marks: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """An Indexed Job whose pods are marked for the fake kubelet, as by `{"run_for": "1h"}`."""
    container = {
        "name": "main",
        "image": "registry.test/train:1",
        "resources": {"requests": {"cpu": cpu}},
    }
    return {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "backoffLimit": 0,
        "template": {
            "metadata": {
                "labels": {"paddlespec.io/role": role} if role else {},
                "annotations": {
                    MARK + mark.replace("_", "-"): value for mark, value in (marks or {}).items()
                },
            },
            "spec": {"restartPolicy": "Never", "containers": [container]},
        },
    }


def workload(user: User, job: str) -> dict[str, Any]:
    """Return Kueue's workload of a Job, which may take a moment to appear."""

    def owned() -> list[dict[str, Any]]:
        return [
            workload
            for workload in user.all("workloads")
            if workload["metadata"]["ownerReferences"][0]["name"] == job
        ]

    [own] = user.plane.eventually(owned)
    return own


def holds(live: Mapping[str, Any], condition: str, status: str = "True") -> str | None:
    """Return the message of the condition of an object with this status."""
    for held in live.get("status", {}).get("conditions", []):
        if (held["type"], held["status"]) == (condition, status):
            return str(held["message"])
    return None
