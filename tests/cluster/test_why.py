"""Why a job is not running or failed, as reported by `status` on a real control plane."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
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


def status_with(user: User, sentence: str) -> dict[str, Any]:
    """Return the output of `status` once the reason of the state contains *sentence*."""
    status: dict[str, Any] = {}

    def says() -> bool:
        ended = user.attempt("status", "fit", "-o", "json")
        assert ended.code in (0, 4), ended.stderr
        assert "canary" not in ended.stdout + ended.stderr
        status.update(json.loads(ended.stdout))
        return sentence in (status["reason"] or "")

    user.plane.eventually(says, within=60, what=sentence)
    return status


def test_a_job_that_is_too_large_for_any_node(user: User) -> None:
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=4000")
    status = status_with(user, "fits on no node: requests 4000 cpu, but the largest node has 256")
    first = status["evidence"][0]
    assert first.startswith("test-node-0: ")
    assert "of 256 cpu free" in first
    assert first.endswith(" short")
    shown = user.run("status", "fit").stdout
    assert "evidence:   test-node-0: " in shown
    assert "trainers:   0/2 ready (fits on no node: requests 4000 cpu" in shown


def test_without_the_right_to_read_nodes_the_scheduler_message_is_shown(user: User) -> None:
    kinds = [("batch", ["jobs"]), ("apps", ["statefulsets"]), ("", ["pods", "configmaps"])]
    rules = [
        {"apiGroups": [group], "resources": names, "verbs": ["get", "list"]}
        for group, names in kinds
    ]
    user.plane.allow("reader", user.namespace, rules)
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=4000")
    status_with(reader, "fits on no node: 0/3 nodes are available: 3 Insufficient cpu")


def test_a_label_that_no_node_has(user: User) -> None:
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.nodeSelector.zone=moon")
    status = status_with(user, "fits on no node: no node has the label zone=moon")
    assert "test-node-0: has no label zone=moon" in status["evidence"]


def test_a_quota_that_is_used_up(user: User) -> None:
    quota = {"metadata": {"name": "small"}, "spec": {"hard": {"requests.cpu": "3"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "small").get("status", {}).get("hard"))
    user.run("apply", user.ps(run_for="1h"), *COLLECTIVE, "-u", "trainers.resources.cpu=2")
    status = status_with(user, "trainer 1 of 2 has not started")
    role = "pods cannot be created: needs 2 cpu, 1 of 3 left (quota small)"
    assert status["roles"]["trainers"]["reason"] == role
    assert "1 of 2 trainers have a pod" in status["evidence"]
    assert any(event["message"] == role.partition(": ")[2] for event in status["events"])
    late = user.run("wait", "fit", "--for", "ready", "--timeout", "2s", code=5).stderr
    assert role in late


def test_a_container_that_is_too_large_for_the_namespace(user: User) -> None:
    limits = {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}
    user.plane.request(
        "POST", user.path("limitranges"), {"metadata": {"name": "small"}, "spec": limits}
    )
    # An apply would have asked first.
    folder = str(user.folder / "rendered")
    user.run("render", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=2", "--out", folder)
    user.plane.kubectl("apply", "-R", "-f", folder, "-n", user.namespace)
    status_with(user, "a container may have at most 1 cpu, but its limit is 2 (limit range)")


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
    status = status_with(
        user, "volume claim data is waiting for a volume: storage class fast does not exist"
    )
    assert status["evidence"][0] == "PersistentVolumeClaim/data is Pending and requests 10Gi"
    assert "test-volumes" in status["evidence"][1]


def test_an_image_that_needs_another_pull_secret(user: User) -> None:
    spec = user.ps(pull_error="401 Unauthorized: canary")
    image = "registry.test/does-not-exist:1"
    user.run("apply", spec, *PARALLEL, "-u", f"image={image}", "-u", "registry=team")
    status = status_with(user, f"cannot pull image {image} (access denied, or no such image)")
    absent = f"pull secret team does not exist in namespace {user.namespace}"
    assert status["evidence"] == [absent]
    known = json.dumps({"auths": {"other.test": {"username": "u", "password": "canary"}}})
    secret = {
        "metadata": {"name": "team"},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": known},
    }
    user.plane.request("POST", user.path("secrets"), secret)
    status = status_with(user, "cannot pull image")
    assert status["evidence"] == ["pull secret team is for other.test, not registry.test"]


def test_a_replica_that_its_node_evicted(user: User) -> None:
    message = (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. "
        "Container paddle was using 9Gi, request is 1Gi, has larger consumption of memory. canary"
    )
    marks = {"status_reason": "Evicted", "status_message": message, "fail_index": "1"}
    user.run("apply", user.ps(run_for="1s", fail="137", **marks), *COLLECTIVE)
    status = status_with(user, "a replica failed: trainer 1, evicted by test-node-")
    assert status["reason"].endswith(", which was low on memory: used 9Gi, requested 1Gi")


def test_a_replica_that_ran_out_of_memory(user: User) -> None:
    user.run(
        "apply",
        user.ps(run_for="1s", fail="137", fail_reason="OOMKilled", fail_index="1"),
        *COLLECTIVE,
    )
    status = status_with(
        user, "a replica failed: trainer 1, exit code 137 (out of memory; its limit is 1Gi)"
    )
    assert status["evidence"][0].startswith("Pod/fit-trainer-1-")


def test_an_exceeded_timeout_names_its_length(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), *PARALLEL, "-u", "policy.timeout=3s")
    status_with(user, "exceeded its timeout of 3s")


def test_a_running_job_has_no_reason(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    user.plane.eventually(lambda: user.running("trainers") == 2)
    status = json.loads(user.run("status", "fit", "-o", "json").stdout)
    assert (status["reason"], status["evidence"]) == (None, [])
    assert "evidence" not in user.run("status", "fit").stdout
