"""`apply` of a changed job: what is replaced, what is not, and whose consent is needed."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from interceptor import Fate, Seen, intercepted
from user import WORKLOAD, User, conditions

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane
    from forked import Process

OTHER = ("-u", "image=registry.test/paddle:2")
HASH = "paddlespec.io/spec-hash"


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def uid(user: User, name: str = "fit-trainer") -> str:
    uid: str = user.get("jobs", name)["metadata"]["uid"]
    return uid


def image(user: User, name: str = "fit-trainer") -> str:
    template = user.get("jobs", name)["spec"]["template"]
    image: str = template["spec"]["containers"][0]["image"]
    return image


def pods(user: User) -> set[str]:
    return {pod["metadata"]["uid"] for pod in user.all("pods")}


def rendered_otherwise(user: User) -> None:
    """Use the templates of another version, which renders the same spec differently."""
    path = user.templates / "kubernetes" / WORKLOAD.name
    text = path.read_text(encoding="utf-8")
    setting = "enableServiceLinks: false"
    assert setting in text
    path.write_text(text.replace(setting, "enableServiceLinks: true"), encoding="utf-8")


def settled(user: User) -> dict[str, Any]:
    """Return all objects, once the stopped pservers have ended."""
    user.plane.eventually(lambda: not user.get("jobs", "fit-pserver")["status"].get("terminating"))
    return user.settled()


def test_a_finished_job_whose_program_changed_runs_anew(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete", "--timeout", "60s")
    first, before = uid(user), pods(user)
    assert HASH in user.get("jobs", "fit-trainer")["metadata"]["annotations"]
    result = user.run("apply", spec, *OTHER, "--wait", "complete", "--timeout", "60s")
    assert "Job/fit-trainer deleted" in result.stdout
    assert "Job/fit-trainer replaced" in result.stdout
    assert uid(user) != first
    assert (image(user), image(user, "fit-pserver")) == (OTHER[1].partition("=")[2],) * 2
    assert "Complete" in conditions(user.get("jobs", "fit-trainer"))
    assert not before & pods(user)
    result = user.run("apply", spec, *OTHER)
    assert "nothing to do" in result.stderr


def test_a_failed_job_is_over_too(user: User) -> None:
    spec = user.ps(fail="1", run_for="1s")
    user.run("apply", spec, "--wait", "complete", "--timeout", "60s", code=4)
    user.plane.eventually(lambda: "Failed" in conditions(user.get("jobs", "fit-trainer")))
    first = uid(user)
    user.run("apply", spec, *OTHER)
    assert uid(user) != first


def test_claims_stay(user: User) -> None:
    claim = '[{"name": "out", "mountPath": "/out", "claim": {"size": "1Gi"}}]'
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "-u", f"volumes={claim}", "--wait", "complete")
    before = user.get("persistentvolumeclaims", "fit-out")["metadata"]["uid"]
    result = user.run("apply", spec, "-u", f"volumes={claim}", *OTHER)
    assert "replaced" in result.stdout
    assert user.get("persistentvolumeclaims", "fit-out")["metadata"]["uid"] == before


def test_labels_and_policies_run_nothing_again(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete")
    first = uid(user)
    result = user.run(
        "apply", spec, "-u", "metadata.labels.team=ads", "-u", "policy.keepFinished=2h"
    )
    assert "Job/fit-trainer changed" in result.stdout
    assert "nothing to do" in result.stderr
    live = user.get("jobs", "fit-trainer")
    assert live["metadata"]["labels"]["team"] == "ads"
    assert live["spec"]["ttlSecondsAfterFinished"] == 2 * 3600
    assert uid(user) == first


def test_a_running_job_is_replaced_only_when_asked_to(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    result = user.run("apply", spec, *OTHER, code=3)
    assert "Job/fit-trainer is running and its spec has changed" in result.stderr
    assert "--replace" in result.stderr
    assert user.everything() == before
    result = user.run("apply", spec, *OTHER, "--replace", "--wait", "ready", "--timeout", "60s")
    assert "Job/fit-trainer replaced" in result.stdout
    assert not {before[name] for name in before if name.startswith("pods/")} & pods(user)
    assert (len(user.pods("trainers")), len(user.pods("pservers"))) == (2, 2)
    assert image(user) == "registry.test/paddle:2"
    # Nothing has changed since: the job is as requested.
    running = user.settled()
    user.run("apply", spec, *OTHER, "--replace")
    assert user.everything() == running


def test_only_the_pservers_may_have_changed(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    stateful = ("-u", "pservers.workload=StatefulSet")
    user.run("apply", spec, "-u", "pservers.image=registry.test/ps:1", code=3)
    user.run("apply", spec, *stateful, code=3)
    assert user.everything() == before
    user.run("apply", spec, *stateful, "--replace", "--wait", "ready", "--timeout", "60s")
    assert user.names("jobs") == ["fit-trainer"]
    assert user.names("statefulsets") == ["fit-pserver"]


def test_a_policy_may_agree_beforehand(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    first = uid(user)
    user.run("apply", spec, *OTHER, "-u", "policy.whenChanged=replace-running")
    assert uid(user) != first


def test_a_policy_may_refuse(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete")
    before = user.get("jobs", "fit-trainer")
    result = user.run("apply", spec, *OTHER, "-u", "policy.whenChanged=refuse", code=3)
    assert "Job/fit-trainer is complete" in result.stderr
    assert "which `whenChanged: refuse` forbids" in result.stderr
    assert user.get("jobs", "fit-trainer") == before


def test_a_finished_job_can_be_run_again_unchanged(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete")
    first = uid(user)
    result = user.run("apply", spec)
    assert "--rerun" in result.stderr
    user.run("apply", spec, "--rerun", "--wait", "complete", "--timeout", "60s")
    assert uid(user) != first


def test_a_running_job_is_not_run_again(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    before = user.settled()
    result = user.run("apply", spec, "--rerun")
    assert "--rerun applies only to a finished run" in result.stderr
    assert user.everything() == before


@pytest.mark.parametrize("run_for", ["1h", "1s"])
def test_another_version_disturbs_nothing(user: User, run_for: str) -> None:
    spec = user.ps(run_for=run_for)
    user.run("apply", spec, "--wait", "ready" if run_for == "1h" else "complete")
    before = settled(user)
    rendered_otherwise(user)
    result = user.run("apply", spec)
    [note] = [line for line in result.stderr.splitlines() if " kept: " in line]
    assert "Job/fit-trainer" in note
    assert ("Job/fit-pserver" in note) == (run_for == "1h")
    assert user.everything() == before


def test_another_version_restarts_no_stateful_pservers(user: User) -> None:
    spec = user.ps(run_for="1h")
    stateful = ("-u", "pservers.workload=StatefulSet")
    user.run("apply", spec, *stateful, "--wait", "ready", "--timeout", "60s")
    before = user.get("statefulsets", "fit-pserver")["spec"]
    rendered_otherwise(user)
    result = user.run("apply", spec, *stateful)
    assert "StatefulSet/fit-pserver" in result.stderr
    assert user.get("statefulsets", "fit-pserver")["spec"] == before


def forget(user: User) -> None:
    """Make the trainers' Job look as if it was created before anything was recorded."""
    user.plane.kubectl(
        *("annotate", "job", "fit-trainer", "-n", user.namespace, f"{HASH}-"),
    )


def test_without_a_fingerprint_the_pods_decide(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    forget(user)
    first = uid(user)
    user.run("apply", spec, "-u", "pservers.image=registry.test/ps:1", code=3)
    user.run("apply", spec, "-u", "policy.timeout=3h")
    assert uid(user) == first
    assert HASH in user.get("jobs", "fit-trainer")["metadata"]["annotations"]
    forget(user)
    user.run("apply", spec, *OTHER, "--replace")
    assert uid(user) != first


def test_a_foreign_job_is_never_replaced(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    user.plane.kubectl(
        *("label", "job", "fit-trainer", "-n", user.namespace, "paddlespec.io/job=other"),
        "--overwrite",
    )
    first = uid(user)
    result = user.run("apply", spec, *OTHER, "--replace", code=3)
    assert 'belongs to the job "other"' in result.stderr
    assert uid(user) == first


@pytest.mark.parametrize("fault", ["foreign", "invalid"])
def test_nothing_is_deleted_for_what_cannot_be_created(user: User, fault: str) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready")
    changes = [*OTHER, "-u", "volumes=[]"]
    if fault == "foreign":
        user.plane.kubectl(
            *("label", "service", "fit-pserver", "-n", user.namespace, "paddlespec.io/job-"),
        )
    else:
        required = '{"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}'
        changes += ["-u", f'trainers.affinity={{"nodeAffinity": {required}}}']
    before = user.settled()
    result = user.run("apply", spec, *changes, "--replace", code=3)
    assert (
        "was not created by paddlespec" if fault == "foreign" else "Job/fit-trainer is invalid: "
    ) in result.stderr
    assert user.everything() == before


def test_a_server_dry_run_tells_and_deletes_nothing(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete")
    before = settled(user)
    result = user.run("apply", spec, *OTHER, "--dry-run", "server")
    assert "Job/fit-trainer would be replaced (server dry run)" in result.stdout
    assert "deleted" not in result.stdout
    result = user.run("apply", spec, *OTHER, "--dry-run", "client")
    assert "Job/fit-trainer would be replaced" in result.stderr
    assert "uid" not in result.stdout
    assert user.everything() == before


def interrupted_at(user: User, spec: str, point: int, *arguments: str, side: str = "after") -> int:
    """Apply with a client that dies at a write; return the number of writes."""
    process: list[Process] = []
    writes = 0

    def decide(seen: Seen) -> Fate:
        nonlocal writes
        writes += seen.writes and "dryRun" not in seen.path
        if not seen.writes or "dryRun" in seen.path or writes < point:
            return Fate()
        process[0].kill()
        return Fate(forward=side == "after" and writes == point, answer=False)

    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        mortal = user._replace(kubeconfig=kubeconfig)
        process.append(mortal.start("apply", spec, *arguments))
        process[0].communicate(timeout=60)
    assert process[0].returncode == -signal.SIGKILL
    return writes


def test_what_never_started_is_replaced_freely(user: User) -> None:
    spec = user.ps(run_for="1h")
    interrupted_at(user, spec, 5)
    assert user.get("jobs", "fit-trainer")["spec"]["suspend"] is True
    first = uid(user)
    refuse = ("-u", "policy.whenChanged=refuse")
    user.run("apply", spec, *OTHER, *refuse, "--wait", "ready", "--timeout", "60s")
    assert uid(user) != first
    assert image(user) == "registry.test/paddle:2"
