"""`status`, `wait`, `get jobs` and `get workers` on a real control plane."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

COLLECTIVE = (
    *("-u", "mode=collective", "-u", "pservers-"),
    *("-u", "command=python -m paddle.distributed.launch train.py"),
)
PARALLEL = ("-u", "mode=parallel", "-u", "pservers-")


NOWHERE = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def data(user: User, *arguments: str, code: int = 0) -> Any:
    return json.loads(user.run(*arguments, "-o", "json", code=code).stdout)


def job(user: User, *arguments: str) -> dict[str, Any]:
    (shown,) = data(user, "get", "jobs", *arguments)["jobs"]
    return dict(shown)


def cells(text: str) -> list[str]:
    return text.splitlines()[1].split()


def test_a_running_job(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec)
    user.run("wait", "fit", "--for", "ready", "--timeout", "60s")
    user.plane.eventually(lambda: job(user)["roles"]["pservers"]["ready"] == 2)
    assert cells(user.run("get", "jobs").stdout)[:7] == [
        *("fit", "ps", "running", "2/2", "2/2", "0", "0")
    ]
    shown = user.run("status", "fit").stdout
    assert f"job:        fit in namespace {user.namespace} (target kubernetes)" in shown
    assert "mode:       ps" in shown
    assert f"spec:       {spec}" in shown
    assert "trainers:   2/2 ready" in shown
    assert "Job/fit-trainer SuccessfulCreate: pod fit-trainer-" in shown
    assert "next:       paddlespec logs fit -f" in shown
    listed = data(user, "get", "workers", "fit")["workers"]
    assert [(worker["role"], worker["rank"], worker["state"]) for worker in listed] == [
        *(("trainers", 0, "running"), ("trainers", 1, "running")),
        *(("pservers", 0, "running"), ("pservers", 1, "running")),
    ]
    assert all(worker["node"] and worker["address"] and worker["started"] for worker in listed)


@pytest.mark.parametrize(("updates", "mode"), [(COLLECTIVE, "collective"), (PARALLEL, "parallel")])
def test_jobs_of_other_modes(user: User, updates: tuple[str, ...], mode: str) -> None:
    user.run("apply", user.ps(run_for="1h"), *updates, "--wait", "ready")
    user.plane.eventually(lambda: job(user)["state"] == "running")
    assert cells(user.run("get", "jobs").stdout)[1:5] == [mode, "running", "2/2", "-"]


def test_pservers_of_a_stateful_set(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "-u", "pservers.workload=StatefulSet", "--wait", "ready")
    user.plane.eventually(lambda: job(user)["roles"]["pservers"]["ready"] == 2)
    listed = data(user, "get", "workers", "fit")["workers"]
    assert [worker["rank"] for worker in listed] == [0, 1, 0, 1]


def test_a_failed_job_shows_who_failed_first(user: User) -> None:
    user.run("apply", user.ps(run_for="1s", fail="7", fail_index="1"))
    result = user.run("wait", "fit", "--timeout", "60s", code=4)
    assert "exit code 7" in result.stderr
    user.run("wait", "fit", "--for", "failed", "--timeout", "60s")
    shown = user.run("status", "fit", code=4).stdout
    assert "state:      failed: a replica failed" in shown
    assert "fit-trainer-1-" in shown
    assert ": exit code 7" in shown
    assert "Failed (BackoffLimitExceeded)" in shown
    assert "--rerun" in shown
    assert not data(user, "get", "jobs")["jobs"]
    assert job(user, "-a")["state"] == "failed"
    failed = [
        worker
        for worker in data(user, "get", "workers", "fit")["workers"]
        if worker["exitCode"] == 7
    ]
    assert [(worker["rank"], worker["state"], worker["reason"]) for worker in failed] == [
        (1, "failed", "Error")
    ]


def test_memory_that_ran_out_is_said(user: User) -> None:
    user.run("apply", user.ps(run_for="1s", fail="137", fail_reason="OOMKilled"))
    user.run("wait", "fit", "--for", "failed", "--timeout", "60s")
    shown = user.run("status", "fit", code=4).stdout
    assert "exit code 137 (out of memory; its limit is 1Gi)" in shown
    assert "failed (OOMKilled)" in user.run("get", "workers", "fit").stdout


def test_a_job_that_fits_nowhere(user: User) -> None:
    user.run("apply", user.ps(), "-u", "trainers.resources.cpu=4000")
    user.plane.eventually(lambda: "fits on no node" in user.run("status", "fit").stdout)
    shown = user.run("status", "fit").stdout
    assert "state:      pending: fits on no node: requests 4000 cpu" in shown
    assert "trainers:   0/2 ready (fits on no node: requests 4000 cpu" in shown
    assert "warning Pod/fit-trainer-" in shown
    assert "pending (Unschedulable)" in user.run("get", "workers", "fit").stdout
    result = user.run("wait", "fit", "--for", "ready", "--timeout", "2s", code=5)
    assert "fits on no node" in result.stderr


def test_an_image_that_is_not_there(user: User) -> None:
    user.run("apply", user.ps(), "-u", "image=registry.test/does-not-exist:1")
    user.plane.eventually(lambda: "cannot pull" in user.run("status", "fit").stdout)
    listed = data(user, "get", "workers", "fit")["workers"]
    assert {worker["reason"] for worker in listed} == {"ImagePullBackOff"}
    assert listed[0]["message"].startswith("cannot pull image registry.test/does-not-exist:1")


def test_pods_that_a_quota_forbids(user: User) -> None:
    quota = {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "0"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.run("apply", user.ps())
    expected = "pods cannot be created: needs 1 pod, 0 of 0 left (quota small)"
    user.plane.eventually(lambda: expected in user.run("status", "fit").stdout)
    message = user.run("get", "workers", "fit").stderr
    assert "fit has no replicas; it is pending" in message


def test_a_killed_job_is_known_by_its_inventory(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "-u", "metadata.labels.team=ads")
    user.run("kill", "fit")
    assert job(user, "-a")["state"] == "killed"
    assert not data(user, "get", "jobs")["jobs"]
    shown = user.run("status", "fit", code=3).stdout
    assert "state:      killed" in shown
    assert "trainers:   2; counts were deleted with its objects" in shown
    assert "paddlespec apply" in shown
    assert job(user, "-a", "-l", "team=ads")["mode"] == "ps"
    user.run("wait", "fit", "--for", "deleted", "--timeout", "20s")
    assert "was killed" in user.run("wait", "fit", code=3).stderr


def test_a_job_that_its_time_to_live_removed(user: User) -> None:
    user.run("apply", user.ps(run_for="1s"), "-u", "policy.keepFinished=6s")
    user.run("wait", "fit", "--timeout", "60s")
    user.plane.eventually(lambda: not user.names("jobs"))
    shown = job(user, "-a")
    assert (shown["state"], shown["mode"], shown["run"]) == ("succeeded", "ps", 1)
    user.run("status", "fit")
    user.run("wait", "fit")
    assert "no replicas" in user.run("get", "workers", "fit").stderr


def test_waiting_to_the_end_stops_the_pservers(user: User) -> None:
    user.run("apply", user.ps(run_for="2s"))
    result = user.run("wait", "fit", "--timeout", "60s")
    assert "fit: complete, pservers stopped" in result.stderr
    assert [run["state"] for run in user.history()] == ["succeeded"]
    user.plane.eventually(lambda: job(user, "-a")["roles"]["pservers"]["ready"] == 0)


def test_whoever_may_only_look_learns_the_verdict(user: User) -> None:
    rules = [
        {"apiGroups": [group], "resources": kinds, "verbs": ["get", "list"]}
        for group, kinds in (
            *(("batch", ["jobs"]), ("apps", ["statefulsets"]), ("", ["pods", "configmaps"])),
        )
    ]
    user.plane.allow("reader", user.namespace, rules)
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    user.run("apply", user.ps(run_for="1s"))
    message = reader.run("wait", "fit", "--timeout", "60s").stderr
    assert "complete, its pservers are still running: you may not stop them" in message
    assert "state:      succeeded" in reader.run("status", "fit").stdout
    assert job(reader, "-a")["state"] == "succeeded"


def test_lost_pservers_fail_a_job_that_still_runs(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    user.plane.request("DELETE", f"{user.path('jobs')}/fit-pserver?propagationPolicy=Background")
    user.plane.eventually(lambda: "fit-pserver" not in user.names("jobs"))
    assert job(user)["state"] == "failing"
    assert "the pservers no longer exist" in user.run("status", "fit", code=4).stdout


def test_what_comes_next_is_about_the_same_job(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    place = f"--namespace {user.namespace}"
    shown = user.run("status", "fit", "-n", user.namespace).stdout
    assert f"next:       paddlespec logs fit {place} -f" in shown
    user.run("kill", "fit")
    shown = user.run("status", "fit", "-n", user.namespace, code=3).stdout
    assert f"fit.yaml {place} --rerun" in shown


def test_a_wait_leaves_the_end_as_it_was(user: User) -> None:
    user.run("apply", user.ps(run_for="1s"))
    user.plane.eventually(lambda: job(user, "-a")["state"] == "succeeded")
    end = user.get("jobs", "fit-trainer")["status"]["completionTime"]
    time.sleep(1.5)
    user.run("wait", "fit")
    (run,) = user.history()
    assert run["finished"] == end


def test_a_name_that_is_not_there(user: User) -> None:
    user.run("apply", user.ps("word2vec"))
    for command in (("status",), ("wait",), ("get", "workers")):
        message = user.run(*command, "wordvec", code=3).stderr
        assert f"job wordvec does not exist in namespace {user.namespace}" in message
        assert 'did you mean "word2vec"?' in message
    user.run("wait", "wordvec", "--for", "deleted")


def test_manifests_that_another_tool_applied(user: User) -> None:
    rendered = user.run("render", user.ps(run_for="1h"), "-u", "env.PASSWORD=shown").stdout
    user.plane.kubectl("apply", "-n", user.namespace, "-f", "-", input=rendered)
    user.plane.eventually(lambda: job(user)["state"] == "running")
    assert (job(user)["run"], job(user)["user"]) == (None, None)
    assert "run:        not recorded" in user.run("status", "fit").stdout
    user.run("wait", "fit", "--for", "ready", "--timeout", "60s")


def test_a_damaged_inventory_hides_no_other_job(user: User) -> None:
    user.run("apply", user.ps("one", run_for="1h"))
    broken = {
        "metadata": {"name": "two.paddlespec", "labels": {"paddlespec.io/inventory": "two"}},
        "data": {"runs.json": "{"},
    }
    user.plane.request("POST", user.path("configmaps"), broken)
    result = user.run("get", "jobs", "-o", "name", code=3)
    assert result.stdout == "one\n"
    assert "two: the inventory two.paddlespec is damaged" in result.stderr


def test_each_request_is_told_on_demand_and_nothing_that_it_holds(user: User) -> None:
    spec = user.ps()
    assert "HTTP" not in user.run("apply", spec).stderr
    lines = user.run("apply", spec, "-u", "policy.timeout=3h", "-v").stderr.splitlines()
    patch = f"PATCH {user.path('jobs')}/fit-trainer?fieldManager=paddlespec&force=false: 200 in "
    assert any(line.startswith(patch) for line in lines)
    assert "Bearer" not in "".join(lines)
    nowhere = user.write(NOWHERE, "nowhere")
    lines = user.run("get", "jobs", "-v", "--kubeconfig", nowhere, code=3).stderr.splitlines()
    assert lines[0].startswith("GET /api")
    assert "cannot reach" in lines[0]


def test_someone_without_rights(user: User) -> None:
    stranger = user._replace(kubeconfig=user.plane.kubeconfig_for("nobody", user.namespace))
    for command in (("get", "jobs"), ("status", "fit"), ("wait", "fit")):
        assert "you may not" in stranger.run(*command, code=3).stderr
