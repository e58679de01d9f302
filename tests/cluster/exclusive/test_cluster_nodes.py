"""Nodes of the cluster: what `get resources` and `status` report, and what fits on them."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from test_room import WAIT, bounded, create, feasible, rows
from test_why import COLLECTIVE, PARALLEL, status_with
from user import PS, User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def reader(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    """A user without rights."""
    kubeconfig = control_plane.kubeconfig_for("reader", namespace)
    return User(control_plane, namespace, tmp_path, kubeconfig)


@pytest.fixture
def gpus(control_plane: ControlPlane) -> Iterator[str]:
    """A node with eight GPUs, only for pods that tolerate its taint."""
    name = f"gpu-{uuid.uuid4().hex[:8]}"
    amounts = {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "8", "pods": "10"}
    node = {
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"pool": name},
        },
        "spec": {"taints": [{"key": "gpus", "effect": "NoSchedule"}]},
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    control_plane.request("POST", "/api/v1/nodes", node)

    def ready() -> bool:
        live = control_plane.request("GET", f"/api/v1/nodes/{name}")
        return [taint["key"] for taint in live["spec"]["taints"]] == ["gpus"]

    control_plane.eventually(ready)
    yield name
    control_plane.request("DELETE", f"/api/v1/nodes/{name}")


def test_resources_of_nodes_and_in_all(user: User, gpus: str) -> None:
    pod = {
        "metadata": {"name": "p"},
        "spec": {
            "nodeName": gpus,
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {"limits": {"cpu": "2500m", "nvidia.com/gpu": "3"}},
                }
            ],
        },
    }
    before = rows(user)
    create(user, "pods", pod)
    table = rows(user)
    assert [table["node", gpus, name] for name in ("cpu", "memory", "nvidia.com/gpu")] == [
        ["16", "16", "2.5", "13.5"],
        ["64Gi", "64Gi", "0", "64Gi"],
        ["8", "8", "3", "5"],
    ]
    total = "total", "nodes", "nvidia.com/gpu"
    assert [table[total][0], before[total][0]] == ["200", "200"]
    assert Decimal(table[total][2]) >= 3
    path = f"/api/v1/nodes/{gpus}"
    live = user.plane.request("GET", path)
    live["spec"]["unschedulable"] = True
    user.plane.request("PUT", path, live)
    assert rows(user)["node", gpus, "cpu"][3] == "0"
    assert f"{gpus}  cordoned" in user.run("get", "resources").stdout


def test_the_number_of_requests_is_the_same_for_few_and_for_many(user: User, gpus: str) -> None:
    def requests() -> int:
        before = asked(user)
        user.run("get", "resources")
        return asked(user) - before

    user.run("get", "resources")  # discovery results are cached from here on
    few = requests()
    user.run("apply", user.ps("fit", run_for="1h"), *WAIT)
    assert requests() == few
    assert few <= 6


def asked(user: User) -> int:
    return sum(
        event.get("userAgent", "").startswith("paddlespec")
        for event in user.plane.audit(user="admin")
    )


def test_who_may_list_nodes_and_no_pods_sees_what_there_is(reader: User, gpus: str) -> None:
    name = f"see-{gpus}"
    group = "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]
    reader.plane.request(
        "POST", f"{group}/clusterroles", {"metadata": {"name": name}, "rules": rules}
    )
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    }
    reader.plane.request("POST", f"{group}/clusterrolebindings", binding)
    try:
        reader.plane.eventually(lambda: "NAME" in reader.run("get", "resources").stdout)
        table = rows(reader)
        assert table["node", gpus, "cpu"] == ["16", "16", None, None]
        assert table["total", "nodes", "cpu"][2:] == [None, None]
        message = reader.run("get", "resources").stderr
        assert "use of nodes: unknown: you may not list pods" in message
    finally:
        for kind in ("clusterrolebindings", "clusterroles"):
            reader.plane.request("DELETE", f"{group}/{kind}/{name}")


def test_a_preview_says_whether_the_job_fits_now(user: User, gpus: str) -> None:
    bounded(user)
    path = user.ps("fit")
    assert feasible(user, path)[0] == "Feasibility the job fits right now"
    asks = (
        f"trainers.nodeSelector={{pool: {gpus}}}",
        "trainers.resources.gpu=3",
        "trainers.replicas=3",
    )
    tolerates = "trainers.tolerations=[{key: gpus, operator: Exists}]"
    updates = [word for ask in asks for word in ("-u", ask)]
    lines = feasible(user, path, *updates)
    assert lines[0] == "Feasibility the job does not fit right now"
    shown = " ".join(lines)
    assert "nodes trainers, replicas 3 0 3 no" in shown
    assert "of 4 nodes: 3 not matching nodeSelector, 1 tainted gpus" in shown
    shown = " ".join(feasible(user, path, *updates, "-u", tolerates))
    assert "nodes trainers, replicas 3 2 1 no" in shown
    assert "1 short of nvidia.com/gpu" in shown
    assert "quota team, requests.nvidia.com/gpu 9 4 5 no" in shown


def test_as_many_replicas_start_as_the_preview_says(user: User, gpus: str) -> None:
    """The scheduler places exactly the replicas that the preview reports as placeable."""
    spec = PS.replace("NAME", "fit").replace("mode: ps", "mode: parallel")
    spec = "\n".join(line for line in spec.splitlines() if "pservers" not in line)
    user.ps("other", run_for="1h")  # the marks affect all jobs
    path = user.write(spec)
    updates = (
        *("-u", f"trainers.nodeSelector={{pool: {gpus}}}", "-u", "trainers.replicas=9"),
        *("-u", "trainers.tolerations=[{key: gpus, operator: Exists}]"),
        *("-u", "trainers.resources.gpu=2", "-u", "trainers.resources.cpu=500m"),
    )
    lines = feasible(user, path, *updates)
    assert any(line.startswith("nodes trainers, replicas 9 4 5 no") for line in lines)
    user.run("apply", path, *updates)

    def judged() -> list[bool]:
        """Whether each pod has a node, once the scheduler has looked at all nine."""
        pods = user.pods("trainers")
        done = [pod for pod in pods if pod["status"].get("conditions")]
        return [bool(pod["spec"].get("nodeName")) for pod in done] if len(done) == 9 else []

    assert sum(user.plane.eventually(judged)) == 4


@pytest.fixture
def node(user: User) -> Iterator[str]:
    """The test's own node, named after its namespace."""
    name = user.namespace
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "10"}
    body = {
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"own": name, "kubernetes.io/hostname": name},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    user.plane.request("POST", "/api/v1/nodes", body)
    user.plane.eventually(lambda: is_ready(user, name))
    yield name
    user.plane.request("DELETE", f"/api/v1/nodes/{name}")


def is_ready(user: User, node: str) -> bool:
    live = user.plane.request("GET", f"/api/v1/nodes/{node}")
    held = {
        condition["type"]: condition["status"] for condition in live["status"].get("conditions", [])
    }
    return held.get("Ready") == "True" and not live["spec"].get("taints")


def test_a_node_that_is_cordoned_or_tainted(user: User, node: str) -> None:
    user.plane.kubectl("cordon", node)
    spec = user.ps()
    user.run("apply", spec, *PARALLEL, "-u", f"trainers.nodeSelector.own={node}")
    status_with(user, f"the only eligible node, {node}, is cordoned")
    user.plane.kubectl("taint", "nodes", node, "team=maps:NoSchedule")
    user.plane.kubectl("uncordon", node)
    status_with(user, "no toleration for the taint team=maps:NoSchedule")


def test_a_node_that_is_full_for_now(user: User, node: str) -> None:
    user.run(
        "apply",
        user.ps(run_for="1h"),
        *COLLECTIVE,
        *("-u", f"trainers.nodeSelector.own={node}", "-u", "trainers.resources.cpu=5"),
    )
    output = status_with(user, "trainer 1 of 2 has not started; the others are waiting")
    assert output["state"] == "running"
    role = "fits on no node: requests 5 cpu, but no node has more than 3 free right now"
    assert output["roles"]["trainers"]["reason"] == role
    assert f"{node}: 3 of 8 cpu free, 2 short" in output["evidence"]


def test_a_node_that_is_lost(user: User, node: str) -> None:
    user.run(
        "apply",
        user.ps(run_for="1h"),
        *COLLECTIVE,
        *("-u", f"trainers.nodeSelector.own={node}", "--wait", "ready"),
    )
    user.plane.kubectl("taint", "nodes", node, "node.test/unreachable=:NoExecute")
    output = status_with(user, "removed from its node, which was tainted or lost")
    assert output["reason"].startswith("a replica failed: ")
