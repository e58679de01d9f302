"""`apply` on a real control plane: what runs, what is left alone, and what is reported."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from interceptor import Fate, Seen, intercepted
from user import EXAMPLES, User, conditions, documents

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

GPU = (str(EXAMPLES / "gpu-multi-node"), "--context", "test")
OVERLAYS = EXAMPLES / "gpu-multi-node" / "overlays"
VARIANTS = {
    "collective": (str(EXAMPLES / "fit-a-line-collective"),),
    "collective-smoke": (str(EXAMPLES / "fit-a-line-collective"), "--profile", "smoke"),
    "ps": (str(EXAMPLES / "fit-a-line-ps"),),
    "ps-smoke": (str(EXAMPLES / "fit-a-line-ps"), "--profile", "smoke"),
    "legacy": (str(EXAMPLES / "legacy-v2"),),
    "parallel": (str(EXAMPLES / "shard-data"),),
    "gpu": GPU,
    "gpu-dev": (*GPU, "--overlay", str(OVERLAYS / "dev.yaml")),
    "gpu-prod": (*GPU, "--overlay", str(OVERLAYS / "prod.yaml")),
    "gpu-one-node": (*GPU, "--profile", "one-node"),
    "gpu-smoke": (*GPU, "--profile", "smoke"),
    "gpu-lab": (*GPU, "--datacenter", "lab"),
}


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_example_is_accepted(user: User, variant: str) -> None:
    what = [*VARIANTS[variant], "-u", f"metadata.namespace={user.namespace}"]
    checked = user.run("apply", *what, "--dry-run", "server")
    assert all("created (server dry run)" in line for line in checked.stdout.splitlines())
    assert not user.everything()
    user.run("apply", *what)
    assert len(user.everything()) >= len(checked.stdout.splitlines())
    again = user.run("apply", *what, "--dry-run", "server")
    assert {line.split()[1] for line in again.stdout.splitlines()} == {"unchanged"}


def test_a_collective_job_runs_to_its_end(user: User) -> None:
    result = user.run("apply", VARIANTS["collective"][0], "--wait", "complete", "--timeout", "60s")
    assert "complete" in result.stderr.splitlines()[-1]
    assert "Complete" in conditions(user.get("jobs", "fit-a-line-collective-trainer"))


def test_pservers_are_stopped_when_the_trainers_are_done(user: User) -> None:
    user.run("apply", user.ps(run_for="1s"), "--wait", "complete", "--timeout", "60s")
    assert "Complete" in conditions(user.get("jobs", "fit-trainer"))
    assert user.get("jobs", "fit-pserver")["spec"]["suspend"] is True
    user.plane.eventually(lambda: not user.pods("pservers"))


def test_stateful_pservers_are_scaled_down_at_the_end(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "-u", "pservers.workload=StatefulSet", "--wait", "complete")
    assert user.get("statefulsets", "fit-pserver")["spec"]["replicas"] == 0
    [owner] = user.get("statefulsets", "fit-pserver")["metadata"]["ownerReferences"]
    assert owner["uid"] == user.get("jobs", "fit-trainer")["metadata"]["uid"]


def test_nothing_runs_before_everything_is_there(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    user.plane.eventually(lambda: "delete leases/fit.paddlespec" in user.writes())
    writes = user.writes()
    assert writes[:4] == [
        "create leases/fit.paddlespec",
        "create configmaps/fit.paddlespec",
        "patch jobs/fit-trainer",
        "update configmaps/fit.paddlespec",
    ]
    assert writes[-3:] == [
        "patch jobs/fit-pserver",
        "patch jobs/fit-trainer",
        "delete leases/fit.paddlespec",
    ]
    [first, *_] = [
        event
        for event in user.plane.audit(user="admin", namespace=user.namespace)
        if event["verb"] == "patch"
        and event["objectRef"].get("name") == "fit-trainer"
        and "dryRun" not in event["requestURI"]
    ]
    assert first["requestObject"]["spec"]["suspend"] is True


def test_a_second_apply_of_a_running_job_disturbs_nothing(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "30s")
    before = user.settled()
    result = user.run("apply", spec)
    assert {line.split()[1] for line in result.stdout.splitlines()} == {"unchanged"}
    assert user.everything() == before
    trainers = before["jobs/fit-trainer"]
    assert trainers["spec"]["suspend"] is False
    for name in ("jobs/fit-pserver", "services/fit-trainer", "services/fit-pserver"):
        [owner] = before[name]["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"]) == ("Job", trainers["metadata"]["uid"])
        assert not owner.get("controller")
        assert not owner.get("blockOwnerDeletion")


def test_what_a_job_can_take_is_changed_in_place(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "-u", "policy.timeout=2h", "--wait", "ready")
    pods = {pod["metadata"]["uid"] for pod in user.all("pods")}
    result = user.run("apply", spec, "-u", "policy.timeout=3h")
    assert "Job/fit-trainer changed" in result.stdout
    assert user.get("jobs", "fit-trainer")["spec"]["activeDeadlineSeconds"] == 3 * 3600
    assert {pod["metadata"]["uid"] for pod in user.all("pods")} == pods


def test_a_changed_program_needs_a_replacement(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    before = user.settled()
    result = user.run("apply", spec, "-u", "image=registry.test/paddle:2", code=3)
    assert "Job/fit-trainer is running and its spec has changed" in result.stderr
    assert "--replace" in result.stderr
    assert user.everything() == before


def test_a_finished_job_is_not_run_again(user: User) -> None:
    spec = user.ps()
    user.run("apply", spec, "--wait", "complete")
    pods = {pod["metadata"]["uid"] for pod in user.all("pods")}
    result = user.run("apply", spec)
    assert "nothing to do" in result.stderr
    assert {pod["metadata"]["uid"] for pod in user.pods("trainers")} <= pods
    assert user.running("pservers") == 0


def test_a_failing_trainer_ends_the_wait_with_its_last_words(user: User) -> None:
    spec = user.ps(fail="137", fail_index="1", run_for="1s")
    result = user.run("apply", spec, "--wait", "complete", "--timeout", "60s", code=4)
    assert re.search(r"Job/fit-trainer fail(ing|ed): a replica failed", result.stderr)
    assert "fit-trainer-1" in result.stderr
    assert "exit code 137 (killed: out of memory, or by the system)" in result.stderr
    assert "  | pass 0, loss 0.5" in result.stderr
    again = user.run("apply", spec, "--wait", "complete", code=4)
    assert "a replica failed" in again.stderr


def test_a_lost_pserver_fails_the_job(user: User) -> None:
    process = user.start("apply", user.ps(run_for="1h"), "--wait", "complete")
    user.plane.eventually(lambda: user.running("trainers") == 2 and user.running("pservers") == 2)
    name = user.pods("pservers")[0]["metadata"]["name"]
    user.plane.request("DELETE", f"{user.path('pods')}/{name}")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert "Job/fit-pserver fail" in err


def test_ready_means_that_every_replica_runs(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready", "--timeout", "60s")
    assert (user.running("trainers"), user.running("pservers")) == (2, 2)


def test_an_image_that_cannot_be_pulled_is_told(user: User) -> None:
    image = "registry.test/does-not-exist:1"
    result = user.run(
        "apply", user.ps(), "-u", f"image={image}", "--wait", "ready", "--timeout", "4s", code=5
    )
    assert f"cannot pull image {image} (no such image or tag)" in result.stderr


def test_pods_that_fit_nowhere_are_told(user: User) -> None:
    spec = user.ps()
    result = user.run(
        *("apply", spec, "-u", "trainers.resources.cpu=100000", "--wait", "ready"),
        *("--timeout", "4s"),
        code=5,
    )
    assert "fits on no node" in result.stderr
    assert "Insufficient cpu" in result.stderr


def test_a_quota_that_leaves_no_pods_is_told(user: User) -> None:
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "few").get("status", {}).get("used"))
    result = user.run("apply", user.ps(run_for="1h"), "--wait", "ready", "--timeout", "8s", code=5)
    expected = "pods cannot be created: needs 1 pod, 0 of 1 left (quota few)"
    assert expected in result.stderr


def test_time_runs_out(user: User) -> None:
    result = user.run(
        "apply", user.ps(run_for="1h"), "--wait", "complete", "--timeout", "3s", code=5
    )
    assert "timed out" in result.stderr
    assert user.get("jobs", "fit-trainer")["spec"]["suspend"] is False


def test_a_job_that_vanishes_is_told(user: User) -> None:
    process = user.start("apply", user.ps(run_for="1h"), "--wait", "complete")
    user.plane.eventually(lambda: user.running("trainers") == 2)
    user.run("delete", "fit")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "Job/fit-trainer no longer exists" in err or "is being deleted" in err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_signal_ends_the_wait_and_not_the_job(
    user: User, number: signal.Signals, code: int
) -> None:
    process = user.start("apply", user.ps(run_for="1h"), "--wait", "complete")
    user.plane.eventually(lambda: user.running("trainers") == 2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert user.running("trainers") == 2


def test_a_client_side_dry_run_prints_and_sends_nothing(user: User) -> None:
    spec = user.ps(run_for="1h")
    printed = documents(user.run("apply", spec, "--dry-run", "client").stdout)
    jobs = {
        manifest["metadata"]["name"]: manifest for manifest in printed if manifest["kind"] == "Job"
    }
    assert {job["spec"]["suspend"] for job in jobs.values()} == {True}
    assert {manifest["metadata"]["namespace"] for manifest in printed} == {user.namespace}
    assert not user.everything()
    user.run("apply", spec)
    # The audit log lags a little.
    user.plane.eventually(lambda: "delete leases/fit.paddlespec" in user.writes())
    before = user.writes()
    printed = documents(user.run("apply", spec, "--dry-run", "client").stdout)
    assert all(
        "suspend" not in manifest["spec"] for manifest in printed if manifest["kind"] == "Job"
    )
    uid = user.get("jobs", "fit-trainer")["metadata"]["uid"]
    owners = {
        reference["uid"]
        for item in printed
        for reference in item["metadata"].get("ownerReferences", ())
    }
    assert owners == {uid}
    assert user.writes() == before


def test_what_is_rendered_is_what_is_sent(user: User) -> None:
    spec = user.ps()
    rendered = documents(user.run("render", spec, "-u", "env.PASSWORD=shown").stdout)
    sent = documents(
        user.run("apply", spec, "-u", "env.PASSWORD=shown", "--dry-run", "client").stdout
    )
    for manifest in sent:
        manifest["metadata"].pop("namespace")
        manifest["spec"].pop("suspend", None)
        manifest["metadata"]["labels"].pop("applyset.kubernetes.io/part-of")
        if manifest["metadata"]["name"] == "fit-trainer" and manifest["kind"] == "Job":
            assert list(manifest["metadata"].pop("annotations")) == ["paddlespec.io/spec-hash"]
    key = _key
    assert sorted(sent, key=key) == sorted(rendered, key=key)


def _key(manifest: dict[str, Any]) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def test_a_foreign_object_is_never_taken(user: User) -> None:
    service = {"metadata": {"name": "fit-pserver"}, "spec": {"ports": [{"port": 80}]}}
    user.plane.request("POST", user.path("services"), service)
    before = user.get("services", "fit-pserver")
    result = user.run("apply", user.ps(), code=3)
    assert "Service/fit-pserver already exists and was not created by paddlespec" in result.stderr
    assert user.get("services", "fit-pserver") == before
    assert not user.names("jobs"), "nothing is created for a job that cannot be completed"


def test_one_failing_job_does_not_stop_the_others(user: User) -> None:
    user.plane.request(
        "POST",
        user.path("services"),
        {"metadata": {"name": "a-trainer"}, "spec": {"ports": [{"port": 1}]}},
    )
    result = user.run("apply", user.ps("a"), user.ps("b", run_for="1h"), code=3)
    assert "paddlespec: a: Service/a-trainer" in result.stderr
    user.plane.eventually(lambda: user.running("trainers") == 2)
    assert "b-trainer" in user.pods("trainers")[0]["metadata"]["name"]


def test_the_namespace_of_the_spec_is_not_overruled(user: User) -> None:
    result = user.run(
        "apply", user.ps(), "-u", "metadata.namespace=ads", "-n", user.namespace, code=2
    )
    assert "belongs to namespace ads" in result.stderr


def test_a_new_run_waits_for_the_pods_of_the_old_one(user: User) -> None:
    spec = user.ps(run_for="1h", terminate_after="3s")
    user.run("apply", spec, "--wait", "ready")
    old = {pod["metadata"]["uid"] for pod in user.all("pods")}
    user.run("kill", "fit", "--no-wait")
    result = user.run("apply", spec, "--rerun", "--wait", "ready", "--timeout", "60s")
    assert "waiting for an earlier run to end" in result.stderr
    assert not old & {pod["metadata"]["uid"] for pod in user.all("pods")}
    assert (user.running("trainers"), user.running("pservers")) == (2, 2)


def test_a_run_that_lost_a_role_is_not_mended(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    path = f"{user.path('jobs')}/fit-pserver?propagationPolicy=Background"
    user.plane.request("DELETE", path)
    result = user.run("apply", spec, code=3)
    assert "Job/fit-pserver no longer exists while the trainers are running" in result.stderr
    assert user.names("jobs") == ["fit-trainer"]


def test_a_job_that_a_person_suspended_stays_so(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    user.plane.kubectl(
        *("patch", "job", "fit-trainer", "-n", user.namespace),
        *("-p", '{"spec": {"suspend": true}}'),
    )
    result = user.run("apply", spec)
    assert "was suspended after it started" in result.stdout
    assert user.get("jobs", "fit-trainer")["spec"]["suspend"] is True


FAULTS = {
    "overloaded": Fate(forward=False, status=429, retry_after="0"),
    "unavailable": Fate(forward=False, status=503),
    "failing": Fate(forward=False, status=500),
    "lost": Fate(forward=False, answer=False),
    "lost-answer": Fate(answer=False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_passing_troubles_are_lived_through(user: User, fault: str) -> None:
    """Every second request fails once."""

    def decide(seen: Seen) -> Fate:
        return FAULTS[fault] if seen.number % 2 else Fate()

    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        user._replace(kubeconfig=kubeconfig).run("apply", user.ps(run_for="1h"))
    assert sorted(user.names("jobs")) == ["fit-pserver", "fit-trainer"]
    user.plane.eventually(lambda: user.running("trainers") == 2)
    assert len(user.pods("trainers")) == 2


def test_troubles_that_stay_end_in_one_line(user: User) -> None:
    with intercepted(
        user.plane, user.folder, user.namespace, lambda _: FAULTS["unavailable"]
    ) as kubeconfig:
        troubled = user._replace(kubeconfig=kubeconfig)
        result = troubled.run("apply", user.ps(), "--timeout", "1s", code=5)
    assert "the API server failed (503)" in result.stderr
