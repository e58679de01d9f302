"""The harness keeps its promises, on which every other cluster test relies."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from control_plane import ControlPlane

SESSION = """
import sys, time
from pathlib import Path
from control_plane.process import launch
print(launch("sleeper", ["/bin/sleep", "600"], Path(sys.argv[1])).process.pid, flush=True)
time.sleep(600)
"""


def job(name: str, **annotations: str) -> dict[str, Any]:
    """Describe an Indexed Job of two trainers, in the shape that paddlespec renders."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": 2,
            "parallelism": 2,
            "backoffLimit": 0,
            "template": {
                "metadata": {
                    "labels": {"paddlespec.io/role": "trainers", "job": name},
                    "annotations": {
                        f"paddlespec.io/test-{key.replace('_', '-')}": value
                        for key, value in annotations.items()
                    },
                },
                "spec": {
                    "restartPolicy": "Never",
                    "initContainers": [{"name": "fetch", "image": "registry.test/fetch:1"}],
                    "containers": [{"name": "train", "image": "registry.test/train:1"}],
                },
            },
        },
    }


def submit(plane: ControlPlane, namespace: str, manifest: dict[str, Any]) -> str:
    """Create a Job and return its path."""
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    plane.request("POST", jobs, manifest)
    return f"{jobs}/{manifest['metadata']['name']}"


def conditions(plane: ControlPlane, path: str) -> set[str]:
    """Name the conditions of a Job that hold."""
    held = plane.request("GET", path)["status"].get("conditions", [])
    return {condition["type"] for condition in held if condition["status"] == "True"}


def pods(plane: ControlPlane, namespace: str) -> list[dict[str, Any]]:
    """List the pods of a namespace."""
    items: list[dict[str, Any]] = plane.request("GET", f"/api/v1/namespaces/{namespace}/pods")[
        "items"
    ]
    return items


def all_running(plane: ControlPlane, namespace: str, count: int) -> bool:
    """Report whether exactly this many pods are running."""
    return [pod["status"]["phase"] for pod in pods(plane, namespace)] == ["Running"] * count


def test_an_indexed_job_completes(control_plane: ControlPlane, namespace: str) -> None:
    """Both indexes succeed, and the init container counts as done."""
    path = submit(control_plane, namespace, job("fit"))
    control_plane.eventually(lambda: "Complete" in conditions(control_plane, path))
    assert control_plane.request("GET", path)["status"]["completedIndexes"] == "0,1"
    for pod in pods(control_plane, namespace):
        assert pod["status"]["podIP"]
        assert pod["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
        assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_job_without_a_role_completes(control_plane: ControlPlane, namespace: str) -> None:
    """Jobs of other tools end as well."""
    manifest = job("plain")
    del manifest["spec"]["template"]["metadata"]["labels"]["paddlespec.io/role"]
    path = submit(control_plane, namespace, manifest)
    control_plane.eventually(lambda: "Complete" in conditions(control_plane, path))


def test_a_run_lasts_as_long_as_its_annotation_says(
    control_plane: ControlPlane, namespace: str
) -> None:
    """A trainer with an hour to run is still running when the test looks."""
    path = submit(control_plane, namespace, job("long", run_for="1h"))
    control_plane.eventually(lambda: all_running(control_plane, namespace, 2))
    assert conditions(control_plane, path) == set()


def test_a_failing_pod_fails_the_job(control_plane: ControlPlane, namespace: str) -> None:
    """FailureTarget comes first, and Failed once every pod is gone."""
    path = submit(control_plane, namespace, job("bad", fail="137"))
    control_plane.eventually(lambda: {"FailureTarget", "Failed"} <= conditions(control_plane, path))
    codes = [
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
        for pod in pods(control_plane, namespace)
    ]
    assert 137 in codes


def test_one_index_can_fail_alone(control_plane: ControlPlane, namespace: str) -> None:
    """The other index continues, and the Job controller completes it."""
    path = submit(
        control_plane, namespace, job("half", fail="3", fail_index="1", fail_reason="OOMKilled")
    )
    control_plane.eventually(lambda: "FailureTarget" in conditions(control_plane, path))
    ended = {
        pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]: pod["status"][
            "containerStatuses"
        ][0]["state"]
        for pod in pods(control_plane, namespace)
    }
    assert ended["1"]["terminated"]["exitCode"] == 3
    assert ended["1"]["terminated"]["reason"] == "OOMKilled"
    assert ended.get("0", {}).get("terminated", {}).get("exitCode") != 3


def test_pservers_never_end_by_themselves(control_plane: ControlPlane, namespace: str) -> None:
    """A Job of parameter servers runs on while one of trainers, created later, completes."""
    servers = job("servers")
    servers["spec"]["template"]["metadata"]["labels"]["paddlespec.io/role"] = "pservers"
    path = submit(control_plane, namespace, servers)
    control_plane.eventually(lambda: all_running(control_plane, namespace, 2))
    trainers = submit(control_plane, namespace, job("trainers"))
    control_plane.eventually(lambda: "Complete" in conditions(control_plane, trainers))
    assert control_plane.request("GET", path)["status"].get("ready") == 2
    assert conditions(control_plane, path) == set()


def test_a_missing_image_is_reported(control_plane: ControlPlane, namespace: str) -> None:
    """The pod waits with the reason that a kubelet gives, and goes away when deleted."""
    manifest = job("typo")
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = (
        "registry.test/does-not-exist:1"
    )
    path = submit(control_plane, namespace, manifest)

    def reasons() -> list[str]:
        statuses = [
            status
            for pod in pods(control_plane, namespace)
            for status in pod["status"].get("containerStatuses", [])
        ]
        return [status["state"]["waiting"]["reason"] for status in statuses]

    control_plane.eventually(lambda: reasons() == ["ImagePullBackOff"] * 2)
    control_plane.request("DELETE", path, {"propagationPolicy": "Background"})
    control_plane.eventually(lambda: not pods(control_plane, namespace))


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_deletes_finish(control_plane: ControlPlane, namespace: str, policy: str) -> None:
    """A running Job is deleted with its pods, despite their finalizers."""
    path = submit(control_plane, namespace, job("gone", run_for="1h"))
    control_plane.eventually(lambda: all_running(control_plane, namespace, 2))
    control_plane.request("DELETE", path, {"propagationPolicy": policy})
    control_plane.eventually(lambda: not pods(control_plane, namespace))
    control_plane.eventually(lambda: not control_plane.get("jobs", "-n", namespace)["items"])


def test_a_pod_may_be_slow_to_stop(control_plane: ControlPlane, namespace: str) -> None:
    """It exists, terminating, until its grace period ends."""
    path = submit(control_plane, namespace, job("slow", run_for="1h", terminate_after="1500ms"))
    control_plane.eventually(lambda: all_running(control_plane, namespace, 2))
    control_plane.request("DELETE", path, {"propagationPolicy": "Background"})
    control_plane.eventually(
        lambda: all(
            "deletionTimestamp" in pod["metadata"] for pod in pods(control_plane, namespace)
        )
    )
    assert len(pods(control_plane, namespace)) == 2
    control_plane.eventually(lambda: not pods(control_plane, namespace))


def test_a_deleted_pod_is_a_failure_of_its_job(control_plane: ControlPlane, namespace: str) -> None:
    """An eviction looks like this; the tracking finalizer does not hold the pod."""
    path = submit(control_plane, namespace, job("evicted", run_for="1h"))
    control_plane.eventually(lambda: all_running(control_plane, namespace, 2))
    victim = pods(control_plane, namespace)[0]["metadata"]["name"]
    control_plane.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/{victim}")
    control_plane.eventually(lambda: "Failed" in conditions(control_plane, path))
    assert victim not in [pod["metadata"]["name"] for pod in pods(control_plane, namespace)]


def test_a_stateful_set_becomes_ready(control_plane: ControlPlane, namespace: str) -> None:
    """Its pods run one after another and stay."""
    labels = {"app": "ps", "paddlespec.io/role": "pservers"}
    body = {
        "metadata": {"name": "ps"},
        "spec": {
            "serviceName": "ps",
            "replicas": 2,
            "selector": {"matchLabels": {"app": "ps"}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "ps", "image": "ps:1"}]},
            },
        },
    }
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    control_plane.request("POST", path, body)
    control_plane.eventually(
        lambda: control_plane.request("GET", f"{path}/ps")["status"].get("readyReplicas") == 2
    )


def test_claims_are_bound_and_released(control_plane: ControlPlane, namespace: str) -> None:
    """The default storage class provides at once, and takes the volume back."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    control_plane.request("POST", claims, {"metadata": {"name": "data"}, "spec": spec})
    control_plane.eventually(
        lambda: control_plane.request("GET", f"{claims}/data")["status"]["phase"] == "Bound"
    )
    volume = control_plane.request("GET", f"{claims}/data")["spec"]["volumeName"]
    control_plane.request("DELETE", f"{claims}/data")

    def volumes() -> list[str]:
        return [
            pod["metadata"]["name"]
            for pod in control_plane.request("GET", "/api/v1/persistentvolumes")["items"]
        ]

    control_plane.eventually(lambda: volume not in volumes())


def test_pods_ask_for_gpus_in_vain_beyond_the_capacity(
    control_plane: ControlPlane, namespace: str
) -> None:
    """The scheduler is real: what does not fit stays Pending and says why."""
    manifest = job("greedy")
    manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "limits": {"nvidia.com/gpu": "65"}
    }
    submit(control_plane, namespace, manifest)

    def reported() -> bool:
        waiting = [
            condition
            for pod in pods(control_plane, namespace)
            for condition in pod["status"].get("conditions", [])
        ]
        return any(
            "Insufficient nvidia.com/gpu" in condition.get("message", "") for condition in waiting
        )

    control_plane.eventually(reported)


def test_kubectl_prints_logs(control_plane: ControlPlane, namespace: str) -> None:
    """Logs go the real way: client, API server, and the fake kubelet."""
    path = submit(control_plane, namespace, job("talk"))
    control_plane.eventually(lambda: "Complete" in conditions(control_plane, path))
    name = pods(control_plane, namespace)[0]["metadata"]["name"]
    assert control_plane.kubectl("logs", "-n", namespace, name).stdout.splitlines()[-1] == "done"


def test_a_user_without_rights_is_refused(control_plane: ControlPlane, namespace: str) -> None:
    """RBAC is on, for kubectl and for plain requests."""
    kubeconfig = control_plane.kubeconfig_for("nobody", namespace)
    refused = control_plane.kubectl(f"--kubeconfig={kubeconfig}", "get", "jobs", check=False)
    assert refused.returncode != 0
    assert "Forbidden" in refused.stderr
    with pytest.raises(urllib.error.HTTPError) as caught:
        control_plane.request("GET", f"/api/v1/namespaces/{namespace}/pods", token="nobody-token")
    assert caught.value.code == HTTPStatus.FORBIDDEN
    caught.value.close()


def test_a_user_may_do_what_is_allowed(control_plane: ControlPlane, namespace: str) -> None:
    """Exactly the given rules hold, in the given namespace."""
    control_plane.allow(
        "runner", namespace, [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list"]}]
    )
    flag = f"--kubeconfig={control_plane.kubeconfig_for('runner', namespace)}"
    control_plane.eventually(
        lambda: control_plane.kubectl(flag, "get", "jobs", check=False).returncode == 0
    )
    assert control_plane.kubectl(flag, "get", "pods", check=False).returncode != 0


def test_the_audit_log_sees_requests(control_plane: ControlPlane, namespace: str) -> None:
    """A write is recorded with its body and its verdict, and by whom."""
    submit(control_plane, namespace, job("seen", run_for="1h"))
    event = control_plane.eventually(
        lambda: [
            event
            for event in control_plane.audit(user="admin", namespace=namespace)
            if event["verb"] == "create"
        ]
    )[-1]
    assert event["objectRef"]["resource"] == "jobs"
    assert event["requestObject"]["metadata"]["name"] == "seen"
    assert event["responseStatus"]["code"] == HTTPStatus.CREATED
    assert {event["user"]["username"] for event in control_plane.audit(namespace=namespace)} == {
        "admin"
    }


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux signals the children of a dead parent"
)
def test_servers_die_with_a_killed_session(tmp_path: Path) -> None:
    """No teardown runs after SIGKILL, but nothing is left behind."""
    command = [sys.executable, "-c", SESSION, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    ) as session:
        assert session.stdout is not None
        server = Path("/proc") / session.stdout.readline().strip()
        until(lambda: (server / "cmdline").read_bytes().startswith(b"/bin/sleep"))
        session.kill()
    until(lambda: not server.exists() or ") Z " in (server / "stat").read_text(encoding="utf-8"))


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that needs no cluster."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
