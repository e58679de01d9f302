"""The target `jobset` with the real controllers of JobSet and Kueue: from `apply` to `delete`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import kueue
import pytest
from follower import WROTE, logging, rows
from user import User, conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from control_plane import ControlPlane

COLLECTIVE = (
    *("-u", "mode=collective", "-u", "pservers-"),
    *("-u", "command=python -m paddle.distributed.launch train.py"),
)
QUEUED = ("-u", "scheduling.scheduler=kueue", "-u", f"scheduling.queue={kueue.QUEUE}")


@pytest.fixture
def user(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, controllers: Callable[..., None]
) -> User:
    controllers("jobset")
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def queues(user: User, controllers: Callable[..., None]) -> Iterator[User]:
    """A user with a queue that has five cores: a job of two and two replicas takes four."""
    controllers("jobset", "kueue")
    with kueue.quota(user, kueue.one_flavor(cpu=5)):
        yield user


def spec(user: User, **marks: str) -> str:
    """A spec of two trainers and two pservers as a JobSet, marked for the fake kubelet."""
    path = user.ps(**marks)
    with open(path, "a", encoding="utf-8") as file:
        file.write("  target: jobset\n")
    return path


def job(user: User) -> Any:
    """Return the only job in `get jobs`."""
    (state,) = json.loads(user.run("get", "jobs", "-a", "-o", "json").stdout)["jobs"]
    return state


def running(user: User, trainers: int = 2) -> None:
    user.plane.eventually(lambda: user.running("trainers") == trainers, within=60)


def expect_quiet(user: User, *arguments: str) -> None:
    """Check that nothing is left to apply, and that a second apply changes nothing."""
    user.run("diff", *arguments)
    before = user.get("jobsets", "fit")["metadata"]["generation"], user.settled()
    applied = user.run("apply", *arguments).stdout.splitlines()
    assert [line for line in applied if not line.endswith(("unchanged", "to Kueue"))] == []
    assert (user.get("jobsets", "fit")["metadata"]["generation"], user.everything()) == before


def test_a_job_completes_and_its_engine_ends_the_pservers(user: User) -> None:
    path = spec(user, run_for="3s")
    ended = user.run("apply", path, "--wait", "complete", "--timeout", "90s")
    assert "complete" in ended.stderr
    live = user.get("jobsets", "fit")
    assert live["spec"]["suspend"] is False
    assert "Completed" in conditions(live)
    user.plane.eventually(lambda: user.names("jobs") == ["fit-trainers-0"])
    assert [run["state"] for run in user.history()] == ["succeeded"]
    state = job(user)
    assert (state["state"], state["target"], state["mode"]) == ("succeeded", "jobset", "ps")
    assert state["roles"]["trainers"]["succeeded"] == 2
    assert state["started"]
    assert state["finished"]
    user.run("wait", "fit", "--for", "complete")
    user.run("diff", path)
    assert "nothing to do" in user.run("apply", path).stderr
    again = user.run("apply", path, "--rerun", "--wait", "complete", "--timeout", "90s")
    assert "complete" in again.stderr
    assert [run["state"] for run in user.history()] == ["succeeded", "succeeded"]


def test_a_collective_job_finds_its_peers_below_the_service_of_the_set(user: User) -> None:
    path = spec(user, run_for="1h")
    user.run("apply", path, *COLLECTIVE, "--wait", "ready", "--timeout", "60s")
    assert user.names("jobs") == ["fit-trainers-0"]
    (service,) = user.all("services")
    assert service["metadata"]["name"] == "fit"
    assert service["spec"]["publishNotReadyAddresses"] is True
    for pod in user.pods("trainers"):
        index = pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
        env = {
            variable["name"]: variable.get("value")
            for variable in pod["spec"]["containers"][0]["env"]
        }
        assert env["PADDLE_MASTER"] == "fit-trainers-0-0.fit.$(NS).svc:6768"
        own = f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}.$(NS).svc"
        assert env["POD_IP"].replace("$(IDX)", index) == own
    expect_quiet(user, path, *COLLECTIVE)


def test_trainers_start_once_the_pservers_run(user: User) -> None:
    path = spec(user, run_for="1h")
    user.run("apply", path, "-u", "pservers.image=registry.test/does-not-exist:1")
    user.plane.eventually(lambda: user.phases("fit-pservers-0") == ["Pending"] * 2)
    user.settled()
    assert user.names("jobs") == ["fit-pservers-0"]
    state = job(user)
    assert state["state"] == "pending"
    assert state["roles"]["trainers"] == {
        **state["roles"]["trainers"],
        "desired": 2,
        "ready": 0,
    }
    shown = user.run("status", "fit").stdout
    assert "cannot pull image registry.test/does-not-exist:1" in shown
    user.run("wait", "fit", "--for", "ready", "--timeout", "2s", code=5)


def test_a_failure_restarts_all_roles_as_often_as_retries_say(user: User) -> None:
    path = spec(user, run_for="1s", fail="7")
    retries = ("-u", "policy.retries=1")
    failed = user.run("apply", path, *retries, "--wait", "complete", "--timeout", "120s", code=4)
    assert "JobSet/fit failed: a role failed repeatedly" in failed.stderr
    assert "exit code 7" in failed.stderr
    live = user.get("jobsets", "fit")
    assert live["status"]["restarts"] == 1
    assert [run["state"] for run in user.history()] == ["failed"]
    shown = user.run("status", "fit", code=4).stdout
    assert "a replica failed: trainer" in shown
    assert "exit code 7" in shown
    assert job(user)["state"] == "failed"
    user.run("wait", "fit", "--for", "complete", code=4)


def test_a_failure_without_retries_ends_the_run(user: User) -> None:
    path = spec(user, run_for="1s", fail="3", fail_index="1")
    user.run("apply", path, *COLLECTIVE, "--wait", "complete", "--timeout", "90s", code=4)
    assert user.get("jobsets", "fit")["status"]["restarts"] == 0
    assert "trainer 1, exit code 3" in user.run("status", "fit", code=4).stdout


def test_a_running_job_is_replaced_only_by_consent(user: User) -> None:
    path = spec(user, run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    first = user.get("jobsets", "fit")["metadata"]["uid"]
    other = ("-u", "image=registry.test/paddle:2")
    changed = user.run("diff", path, *other, code=1)
    assert "to replace" in changed.stdout
    refused = user.run("apply", path, *other, code=3)
    assert "does not replace a running job" in refused.stderr
    forbidden = user.run("apply", path, *other, "-u", "policy.whenChanged=refuse", code=3)
    assert "forbids" in forbidden.stderr
    assert user.get("jobsets", "fit")["metadata"]["uid"] == first
    user.run("apply", path, *other, "--replace", "--wait", "ready", "--timeout", "120s")
    live = user.get("jobsets", "fit")
    assert live["metadata"]["uid"] != first
    images = {pod["spec"]["containers"][0]["image"] for pod in user.pods("pservers")}
    assert images == {"registry.test/paddle:2"}
    assert [run["state"] for run in user.history()] == ["replaced", "running"]
    expect_quiet(user, path, *other)


def test_what_no_pod_sees_changes_in_place(user: User) -> None:
    path = spec(user, run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    uid = user.get("jobsets", "fit")["metadata"]["uid"]
    other = ("-u", "policy.keepFinished=2d", "-u", "metadata.labels.team=ads")
    assert "1 to change" in user.run("diff", path, *other, code=1).stdout
    user.run("apply", path, *other)
    live = user.get("jobsets", "fit")
    assert live["metadata"]["uid"] == uid
    assert live["spec"]["ttlSecondsAfterFinished"] == 2 * 86_400
    assert live["metadata"]["labels"]["team"] == "ads"
    expect_quiet(user, path, *other)


def test_a_timeout_cannot_change_under_a_run(user: User) -> None:
    """The timeout is not part of the pods, and JobSet does not allow the change, so it is kept."""
    path = spec(user, run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    other = ("-u", "policy.timeout=2h")
    assert "JobSet/fit" in user.run("apply", path, *other).stderr
    expected = user.run("diff", path, *other)
    assert "JobSet/fit" in expected.stdout + expected.stderr
    running(user)


def test_a_timeout_ends_the_run(user: User) -> None:
    path = spec(user, run_for="1h")
    timeout = ("-u", "policy.timeout=3s")
    user.run("apply", path, *timeout, "--wait", "complete", "--timeout", "90s", code=4)
    assert "exceeded its timeout of 3s" in user.run("status", "fit", code=4).stdout


def test_kill_and_delete_leave_nothing(user: User) -> None:
    path = spec(user, run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    preview = user.run("kill", "fit", "--yes")
    assert "JobSet/fit" in preview.stdout + preview.stderr
    assert user.names("jobsets") == []
    assert [run["state"] for run in user.history()] == ["killed"]
    assert "nothing to do" in user.run("apply", path).stderr
    user.run("apply", path, "--rerun", "--wait", "ready", "--timeout", "60s")
    user.run("delete", "fit", "--yes")
    assert user.names("jobsets") == []
    user.plane.eventually(lambda: user.objects() == {}, within=60)
    user.run("status", "fit", code=3)


def test_another_target_takes_a_finished_job_over(user: User) -> None:
    path = spec(user, run_for="1s")
    user.run("apply", path, "--wait", "complete", "--timeout", "90s")
    plain = (path, "--target", "kubernetes")
    user.run("apply", *plain, "--wait", "complete", "--timeout", "90s")
    user.plane.eventually(lambda: user.names("jobsets") == [])
    assert sorted(user.names("jobs")) == ["fit-pserver", "fit-trainer"]
    assert job(user)["target"] == "kubernetes"


def test_a_quota_that_is_too_small_is_the_cause(user: User) -> None:
    hard = {"spec": {"hard": {"pods": "1"}}, "metadata": {"name": "small"}}
    user.plane.request("POST", user.path("resourcequotas"), hard)
    path = spec(user, run_for="1h")
    preview = user.run("render", path, "--preview", "--feasibility").stdout
    assert ["pods", "4", "1", "3"] in [line.split()[-5:-1] for line in preview.splitlines()]
    user.run("apply", path)
    user.plane.eventually(lambda: len(user.pods("pservers")) == 1)
    user.plane.eventually(
        lambda: "pods cannot be created" in user.run("status", "fit").stdout, within=30
    )
    assert "quota small" in user.run("status", "fit").stdout


def test_the_controller_stops_other_roles_with_the_trainers(user: User) -> None:
    evaluator = ("-u", "roles.evaluator.command=python evaluate.py")
    user.run("apply", spec(user, run_for="3s"), *evaluator, "--wait", "complete", "--timeout=90s")
    assert conditions(user.get("jobsets", "fit")) >= {"Completed"}
    user.plane.eventually(lambda: not user.running("evaluator"), within=60)


def test_logs_of_all_roles(
    user: User,
    control_plane: ControlPlane,
    one_at_a_time: Callable[[str], AbstractContextManager[object]],
) -> None:
    path = spec(user, run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    with one_at_a_time("logs"), logging(control_plane):
        lines = rows(user.run("logs", "fit").stdout)
        assert {prefix for prefix, _ in lines} == {
            f"{role}-{index}" for role in ("trainer", "pserver") for index in range(2)
        }
        one = user.run("logs", "fit", "--role", "pservers", "--index", "1").stdout
        assert one.splitlines() == list(WROTE)
    workers = json.loads(user.run("get", "workers", "fit", "-o", "json").stdout)["workers"]
    assert [(worker["role"], worker["rank"]) for worker in workers] == [
        ("trainers", 0),
        ("trainers", 1),
        ("pservers", 0),
        ("pservers", 1),
    ]


def test_a_patch_reaches_the_pods_of_a_role(user: User) -> None:
    path = spec(user, run_for="1h")
    operation = (
        "{op: add, value: Default, path: "
        "/spec/replicatedJobs/1/template/spec/template/spec/dnsPolicy}"
    )
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"  patches: [{{target: {{kind: JobSet}}, patch: [{operation}]}}]\n")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    assert {pod["spec"]["dnsPolicy"] for pod in user.pods("trainers")} == {"Default"}
    assert {pod["spec"]["dnsPolicy"] for pod in user.pods("pservers")} == {"ClusterFirst"}
    expect_quiet(user, path)


def waits(user: User) -> None:
    """Wait until Kueue refuses the JobSet for now."""
    user.plane.eventually(
        lambda: kueue.holds(kueue.workload(user, "fit"), "QuotaReserved", "False"), within=30
    )


def test_ps_is_one_workload_of_a_queue(queues: User) -> None:
    user = queues
    path = spec(user, run_for="20s")
    queued = (path, *QUEUED, "-u", "scheduling.gang=true")
    kueue.submit(user, "other", run_for="1h")
    user.plane.eventually(lambda: user.phases("other") == ["Running"] * 2, within=30)
    user.run("apply", *queued)
    waits(user)
    assert job(user)["state"] == "queued"
    assert "needs 1 cpu more than its queue has free" in user.run("status", "fit").stdout
    assert len(user.all("pods")) == 2
    expect_quiet(user, *queued)
    user.plane.request("DELETE", f"{user.path('jobs')}/other?propagationPolicy=Background")
    user.run("wait", "fit", "--for", "ready", "--timeout", "60s")
    # `get jobs` lists no pods: the Job controller counts them a moment later.
    user.plane.eventually(lambda: job(user)["state"] == "running", within=30)
    expect_quiet(user, *queued)
    kueue.stop(user, "HoldAndDrain")
    user.plane.eventually(lambda: user.pods("pservers") + user.pods("trainers") == [], within=60)
    assert job(user)["state"] == "queued"
    assert "admitted earlier, then evicted" in user.run("status", "fit").stdout
    expect_quiet(user, *queued)
    kueue.stop(user, "None")
    user.run("wait", "fit", "--for", "ready", "--timeout", "60s")
    expect_quiet(user, *queued)
    user.run("wait", "fit", "--for", "complete", "--timeout", "90s")
    assert job(user)["state"] == "succeeded"
    user.run("diff", *queued)
    assert "nothing to do" in user.run("apply", *queued).stderr
    assert [run["state"] for run in user.history()] == ["succeeded"]


def test_a_selector_of_the_spec_and_one_of_the_queue_go_together(queues: User) -> None:
    user = queues
    path = spec(user, run_for="1h")
    selected = ("-u", "trainers.nodeSelector={kubernetes.io/arch: amd64}")
    user.run("apply", path, *QUEUED, *selected, "--wait", "ready", "--timeout", "60s")
    trainers = user.get("jobsets", "fit")["spec"]["replicatedJobs"][1]
    pod = trainers["template"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/arch": "amd64", **kueue.NODE_LABELS}
    expect_quiet(user, path, *QUEUED, *selected)


def test_kill_gives_the_quota_back(queues: User) -> None:
    user = queues
    path = spec(user, run_for="1h")
    user.run("apply", path, *QUEUED, "--wait", "ready", "--timeout", "60s")
    user.run("kill", "fit", "--yes")
    kueue.submit(user, "other", pods=5, run_for="1h")
    user.plane.eventually(
        lambda: user.phases("other") == ["Running"] * 5, within=kueue.COLLECTED_SECONDS
    )
