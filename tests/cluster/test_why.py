"""Why a job does not run or failed, as `status` tells it on a real control plane."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane

PARALLEL = ("-u", "mode=parallel", "-u", "pservers-")
COLLECTIVE = (
    *("-u", "mode=collective", "-u", "pservers-"),
    *("-u", "command=python -m paddle.distributed.launch train.py"),
)


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def told(user: User, sentence: str) -> dict[str, Any]:
    """What `status` says, as soon as the reason of the state contains *sentence*."""
    found: dict[str, Any] = {}

    def says() -> bool:
        process = user.start("status", "fit", "-o", "json")
        out, err = process.communicate(timeout=60)
        assert process.returncode in (0, 4), err
        assert "canary" not in out + err
        found.update(json.loads(out))
        return sentence in (found["reason"] or "")

    user.plane.eventually(says, within=60, what=sentence)
    return found


def test_a_job_that_is_too_large_for_any_node(user: User) -> None:
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=4000")
    found = told(user, "fits on no node: asks for 4000 cpu, and the largest node has 256")
    first = found["evidence"][0]
    assert first.startswith("test-node-0: ")
    assert "of 256 cpu are free" in first
    assert first.endswith(" short")
    shown = user.run("status", "fit").stdout
    assert "evidence:   test-node-0: " in shown
    assert "trainers:   0/2 ready (fits on no node: asks for 4000 cpu" in shown


def test_whoever_may_not_read_nodes_learns_what_the_scheduler_says(user: User) -> None:
    kinds = [("batch", ["jobs"]), ("apps", ["statefulsets"]), ("", ["pods", "configmaps"])]
    rules = [
        {"apiGroups": [group], "resources": names, "verbs": ["get", "list"]}
        for group, names in kinds
    ]
    user.plane.allow("reader", user.namespace, rules)
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=4000")
    told(reader, "fits on no node: 0/3 nodes are available: 3 Insufficient cpu")


def test_a_label_that_no_node_has(user: User) -> None:
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.nodeSelector.zone=moon")
    found = told(user, "fits on no node: no node has the label zone=moon")
    assert "test-node-0: has no label zone=moon" in found["evidence"]


@pytest.fixture
def node(user: User) -> Iterator[str]:
    """A node of the test's own, named as its namespace."""
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
    found = user.plane.request("GET", f"/api/v1/nodes/{node}")
    held = {each["type"]: each["status"] for each in found["status"].get("conditions", [])}
    return held.get("Ready") == "True" and not found["spec"].get("taints")


def test_a_node_that_is_cordoned_or_tainted(user: User, node: str) -> None:
    user.plane.kubectl("cordon", node)
    spec = user.ps()
    user.run("apply", spec, *PARALLEL, "-u", f"trainers.nodeSelector.own={node}")
    told(user, f"the only node that would do, {node}, is cordoned")
    user.plane.kubectl("taint", "nodes", node, "team=maps:NoSchedule")
    user.plane.kubectl("uncordon", node)
    told(user, "no toleration for the taint team=maps:NoSchedule")


def test_a_node_that_is_full_for_now(user: User, node: str) -> None:
    user.run(
        "apply",
        user.ps(run_for="1h"),
        *COLLECTIVE,
        *("-u", f"trainers.nodeSelector.own={node}", "-u", "trainers.resources.cpu=5"),
    )
    found = told(user, "trainer 1 of 2 has not started, the others wait for it")
    assert found["state"] == "running"
    role = "fits on no node: asks for 5 cpu, and at most 3 are free on a node at the moment"
    assert found["roles"]["trainers"]["reason"] == role
    assert f"{node}: 3 of 8 cpu are free, 2 short" in found["evidence"]


def test_a_node_that_is_lost(user: User, node: str) -> None:
    user.run(
        "apply",
        user.ps(run_for="1h"),
        *COLLECTIVE,
        *("-u", f"trainers.nodeSelector.own={node}", "--wait", "ready"),
    )
    user.plane.kubectl("taint", "nodes", node, "node.test/unreachable=:NoExecute")
    found = told(user, "removed from its node, which got a taint or was lost")
    assert found["reason"].startswith("a replica failed: ")


def test_a_quota_that_is_used_up(user: User) -> None:
    quota = {"metadata": {"name": "small"}, "spec": {"hard": {"requests.cpu": "3"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "small").get("status", {}).get("hard"))
    user.run("apply", user.ps(run_for="1h"), *COLLECTIVE, "-u", "trainers.resources.cpu=2")
    found = told(user, "trainer 1 of 2 has not started")
    role = "pods cannot be created: needs 2 cpu, 1 is left of 3 (quota small)"
    assert found["roles"]["trainers"]["reason"] == role
    assert "1 of 2 trainers have a pod" in found["evidence"]
    assert any(each["message"] == role.partition(": ")[2] for each in found["events"])
    late = user.run("wait", "fit", "--for", "ready", "--timeout", "2s", code=5).stderr
    assert role in late


def test_a_container_that_is_too_large_for_the_namespace(user: User) -> None:
    limits = {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}
    user.plane.request(
        "POST", user.path("limitranges"), {"metadata": {"name": "small"}, "spec": limits}
    )
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=2")
    told(user, "a container may have at most 1 cpu, and its limit is 2 (limit range)")


def test_a_claim_without_a_volume(user: User) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "10Gi"}},
        },
    }
    user.plane.request("POST", user.path("persistentvolumeclaims"), claim)
    volume = 'volumes=[{"name": "data", "mountPath": "/data", "claim": "data"}]'
    user.run("apply", user.ps(), *PARALLEL, "-u", volume)
    found = told(user, "the claim data waits for a volume: there is no storage class fast")
    assert found["evidence"][0] == "PersistentVolumeClaim/data is Pending, of 10Gi"
    assert "test-volumes" in found["evidence"][1]


def test_an_image_that_needs_another_pull_secret(user: User) -> None:
    spec = user.ps(pull_error="401 Unauthorized: canary")
    image = "registry.test/does-not-exist:1"
    user.run("apply", spec, *PARALLEL, "-u", f"image={image}", "-u", "registry=team")
    found = told(user, f"cannot pull image {image} (not permitted, or no such image)")
    absent = f"there is no pull secret team in namespace {user.namespace}"
    assert found["evidence"] == [absent]
    known = json.dumps({"auths": {"other.test": {"username": "u", "password": "canary"}}})
    secret = {
        "metadata": {"name": "team"},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": known},
    }
    user.plane.request("POST", user.path("secrets"), secret)
    found = told(user, "cannot pull image")
    assert found["evidence"] == ["the pull secret team is for other.test, not for registry.test"]


def test_a_replica_that_its_node_evicted(user: User) -> None:
    message = (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. "
        "Container paddle was using 9Gi, request is 1Gi, has larger consumption of memory. canary"
    )
    marks = {"status_reason": "Evicted", "status_message": message, "fail_index": "1"}
    user.run("apply", user.ps(run_for="1s", fail="137", **marks), *COLLECTIVE)
    found = told(user, "a replica failed: trainer 1, evicted by test-node-")
    assert found["reason"].endswith(", which was low on memory: it used 9Gi and asked for 1Gi")


def test_a_replica_that_ran_out_of_memory(user: User) -> None:
    user.run(
        "apply",
        user.ps(run_for="1s", fail="137", fail_reason="OOMKilled", fail_index="1"),
        *COLLECTIVE,
    )
    found = told(
        user, "a replica failed: trainer 1, exit code 137 (out of memory, its limit is 1Gi)"
    )
    assert found["evidence"][0].startswith("Pod/fit-trainer-1-")


def test_a_timeout_is_told_with_its_length(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), *PARALLEL, "-u", "policy.timeout=3s")
    told(user, "its timeout of 3s has passed")


def test_a_job_that_runs_has_no_reason(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    user.plane.eventually(lambda: user.running("trainers") == 2)
    found = json.loads(user.run("status", "fit", "-o", "json").stdout)
    assert (found["reason"], found["evidence"]) == (None, [])
    assert "evidence" not in user.run("status", "fit").stdout
