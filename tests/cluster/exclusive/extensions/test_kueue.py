"""A job in a queue of the real Kueue, from `apply` to `kill`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import kueue
import pytest
from user import User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane


SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: collective
  image: registry.test/paddle:1
  command: python -m paddle.distributed.launch train.py
  trainers:
    replicas: 2
    resources: {cpu: 1, memory: 1Gi}
    nodeSelector: {kubernetes.io/arch: amd64}
  scheduling: {scheduler: kueue, queue: night}
"""

SELECTED = {"kubernetes.io/arch": "amd64", **kueue.NODE_LABELS}


@pytest.fixture
def user(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, controllers: Callable[..., None]
) -> Iterator[User]:
    """A user with a queue that has three cores."""
    controllers("kueue")
    user = User.admin(control_plane, namespace, tmp_path)
    with kueue.quota(user, kueue.one_flavor(cpu=3)):
        yield user


@pytest.fixture
def spec(user: User) -> str:
    """A job of two cores that runs until it is killed."""
    user.mark(run_for="1h")
    return user.write(SPEC)


def running(user: User, job: str = "fit-trainer") -> None:
    user.plane.eventually(lambda: user.phases(job) == ["Running"] * 2, within=30)


def waiting(user: User, job: str = "fit-trainer") -> None:
    """Wait until Kueue refuses a Job for now."""
    user.plane.eventually(lambda: kueue.holds(kueue.workload(user, job), "QuotaReserved", "False"))


def expect_quiet(user: User, spec: str) -> None:
    """Check that nothing is left to apply, and that a second apply changes nothing."""
    user.run("diff", spec)
    before = user.settled()
    expect_unchanged(user, spec)
    assert user.everything() == before


def expect_unchanged(user: User, spec: str) -> None:
    applied = user.run("apply", spec).stdout.splitlines()
    assert [line for line in applied if not line.endswith(("unchanged", "to Kueue"))] == []


def test_a_job_waits_in_its_queue_until_another_ends(user: User, spec: str) -> None:
    kueue.submit(user, "other", run_for="1h")
    running(user, "other")
    late = user.run("apply", spec, "--wait", "ready", "--timeout", "5s", code=5)
    assert "queued" in late.stderr
    waiting(user)
    shown = user.run("status", "fit").stdout
    shortage = "needs 1 cpu more than its queue has free (flavor spot)"
    assert f"{shortage} (position 1 of 1 in queue night)" in shown
    expect_quiet(user, spec)
    user.plane.request("DELETE", f"{user.path('jobs')}/other?propagationPolicy=Background")
    user.run("wait", "fit", "--for", "ready", "--timeout", "60s")
    expect_quiet(user, spec)


def test_a_job_that_its_queue_can_never_hold_is_reported(user: User, spec: str) -> None:
    user.run("apply", spec, "-u", "trainers.replicas=5")
    waiting(user)
    shown = user.run("status", "fit").stdout
    assert "requests 5 cpu, but its queue is limited to 3" in shown


def test_status_reports_the_position_in_the_queue(user: User, spec: str) -> None:
    urgent = f"urgent-{user.namespace}"
    kueue.create_priority(user, urgent, 10)
    kueue.submit(user, "first", run_for="1h")
    running(user, "first")
    kueue.submit(user, "other", priority=urgent)
    user.run("apply", spec)
    kueue.submit(user, "late")
    for name in ("other", "fit-trainer", "late"):
        waiting(user, name)
    shown = user.run("status", "fit").stdout
    assert "(position 2 of 3 in queue night)" in shown
    assert "ahead of it: Workload/job-other-" in shown
    (job,) = json.loads(user.run("get", "jobs", "-o", "json").stdout)["jobs"]
    assert (job["state"], job["queue"]) == ("queued", "night")


def test_status_names_a_queue_that_does_not_exist(user: User, spec: str) -> None:
    user.run("apply", spec, "-u", "scheduling.queue=day")
    waiting(user)
    shown = user.run("status", "fit").stdout
    assert f"namespace {user.namespace} has no queue day; its queues: night" in shown


def test_an_evicted_job_is_queued_and_admitted_again(user: User, spec: str) -> None:
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    kueue.stop(user, "HoldAndDrain")
    waiting(user)
    user.plane.eventually(lambda: user.phases("fit-trainer") == [])
    (job,) = json.loads(user.run("get", "jobs", "-o", "json").stdout)["jobs"]
    assert (job["state"], job["queue"]) == ("queued", "night")
    assert "admitted earlier, then evicted" in user.run("status", "fit").stdout
    # Kueue restored the node selector: only its list of owners has grown.
    generation = user.get("jobs", "fit-trainer")["metadata"]["generation"]
    expect_unchanged(user, spec)
    assert user.get("jobs", "fit-trainer")["metadata"]["generation"] == generation
    expect_quiet(user, spec)
    kueue.stop(user, "None")
    user.run("wait", "fit", "--for", "ready", "--timeout", "60s")
    expect_quiet(user, spec)


def test_a_finished_job_runs_again_through_its_queue(user: User) -> None:
    user.mark(run_for="1s")
    spec = user.write(SPEC)
    user.run("apply", spec, "--wait", "complete", "--timeout", "60s")
    expect_quiet(user, spec)
    user.run("apply", spec, "--rerun", "--wait", "complete", "--timeout", "60s")
    expect_quiet(user, spec)
    assert [run["state"] for run in user.history()] == ["succeeded", "succeeded"]
    user.plane.eventually(lambda: len(user.all("workloads")) == 1, within=kueue.COLLECTED_SECONDS)


@pytest.mark.parametrize("stopped", [False, True], ids=["running", "queued"])
def test_kill_gives_the_quota_back(user: User, spec: str, *, stopped: bool) -> None:
    if stopped:
        kueue.stop(user, "Hold")
    user.run("apply", spec)
    if stopped:
        waiting(user)
    else:
        running(user)
    user.run("kill", "fit")
    user.plane.eventually(lambda: not user.all("workloads"), within=kueue.COLLECTED_SECONDS)
    assert user.objects() == {}
    kueue.stop(user, "None")
    kueue.submit(user, "other", run_for="1h")
    running(user, "other")


def test_what_kueue_adds_to_a_job_is_no_difference(user: User, spec: str) -> None:
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    assert selector(user) == SELECTED
    assert "suspend" not in first_patch(user)["spec"]
    expect_quiet(user, spec)
    image = ("-u", "image=registry.test/paddle:2")
    assert changed_pod_fields(user, spec, *image) == {"containers[paddle].image"}
    linux = ("-u", 'trainers.nodeSelector."kubernetes.io/os"=linux')
    fields = changed_pod_fields(user, spec, *image, *linux)
    assert {field.partition(".")[0] for field in fields} == {"containers[paddle]", "nodeSelector"}


def changed_pod_fields(user: User, *arguments: str) -> set[str]:
    """Return the pod fields that `diff` shows for the Job."""
    (job,) = json.loads(user.run("diff", *arguments, "-o", "json", code=1).stdout)["jobs"]
    pod = "spec.template.spec."
    return {
        field["path"].removeprefix(pod)
        for shown in job["objects"]
        for field in shown["fields"]
        if field["path"].startswith(pod)
    }


def test_what_kueue_adds_to_a_job_is_never_taken(user: User, spec: str) -> None:
    timeout = (spec, "-u", "policy.timeout=2h")
    user.run("apply", *timeout, "--wait", "ready", "--timeout", "60s")
    patch = '{"spec": {"activeDeadlineSeconds": 60000}}'
    user.plane.kubectl("patch", "job", "fit-trainer", "-n", user.namespace, "-p", patch)
    user.run("apply", *timeout, code=3)
    forced = user.run("apply", *timeout, "--force-conflicts").stdout
    assert "leaves spec.template.spec.nodeSelector to Kueue" in forced
    assert "takes spec.activeDeadlineSeconds" in forced
    assert "takes spec.template" not in forced
    live = user.get("jobs", "fit-trainer")["spec"]
    assert (live["activeDeadlineSeconds"], live["suspend"]) == (7200, False)
    assert selector(user) == SELECTED
    assert user.phases("fit-trainer") == ["Running"] * 2


def first_patch(user: User) -> dict[str, Any]:
    """Return what the first apply of the Job sends."""
    sent: dict[str, Any] = next(
        event["requestObject"]
        for event in user.plane.audit(user="admin", namespace=user.namespace)
        if event["verb"] == "patch" and event["objectRef"].get("name") == "fit-trainer"
    )
    return sent


def selector(user: User) -> dict[str, str]:
    template = user.get("jobs", "fit-trainer")["spec"]["template"]
    labels: dict[str, str] = template["spec"]["nodeSelector"]
    return labels
