"""Fields set by others are respected unless the user says otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from interceptor import Fate, Seen, intercepted
from user import User

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from control_plane import ControlPlane

TIMEOUT = ("-u", "policy.timeout=2h")


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def spec(user: User) -> str:
    """A running job whose deadline was then set by another manager."""
    path = user.ps(run_for="1h")
    user.run("apply", path, *TIMEOUT)
    edit(user, "fit-trainer", {"spec": {"activeDeadlineSeconds": 60000}})
    return path


def edit(user: User, name: str, patch: object, manager: str = "kubectl-edit") -> None:
    user.plane.kubectl(
        *("patch", "job", name, "-n", user.namespace, f"--field-manager={manager}"),
        *("--type=merge", "-p", json.dumps(patch)),
    )


def deadline(user: User) -> int:
    deadline: int = user.get("jobs", "fit-trainer")["spec"]["activeDeadlineSeconds"]
    return deadline


def troubled(user: User, spec: str, code: int, when: Callable[[Seen], bool], patch: object) -> str:
    """Force an apply while someone else changes the trainers' Job; return what is reported."""
    edits: list[int] = []

    def decide(seen: Seen) -> Fate:
        if (
            not edits
            and seen.method == "PATCH"
            and "/jobs/fit-trainer?" in seen.path
            and when(seen)
        ):
            edits.append(seen.number)
            edit(user, "fit-trainer", patch, "someone")
        return Fate()

    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        other = user._replace(kubeconfig=kubeconfig)
        result = other.run("apply", spec, *TIMEOUT, "--force-conflicts", code=code)
    assert edits
    return result.stdout + result.stderr


def forced(seen: Seen) -> bool:
    """Report whether a request takes over fields."""
    return "force=true" in seen.path and "dryRun" not in seen.path


def test_fields_of_others_are_respected(user: User, spec: str) -> None:
    result = user.run("diff", spec, *TIMEOUT, code=1)
    assert "Job/fit-trainer: in conflict: fields owned by other managers" in result.stdout
    assert "spec.activeDeadlineSeconds (kubectl-edit)" in result.stdout
    assert "~ spec.activeDeadlineSeconds: 60000 -> 7200" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("; 1 in conflict")
    assert "--force-conflicts" in result.stdout
    result = user.run("apply", spec, *TIMEOUT, code=3)
    assert "spec.activeDeadlineSeconds (kubectl-edit)" in result.stderr
    assert "--force-conflicts" in result.stderr
    assert deadline(user) == 60000


def test_fields_of_others_are_taken_where_asked(user: User, spec: str) -> None:
    pods = {pod["metadata"]["uid"] for pod in user.all("pods")}
    force = (spec, *TIMEOUT, "--force-conflicts")
    user.run("apply", *force, "--dry-run", "server")
    assert deadline(user) == 60000
    result = user.run("apply", *force)
    assert "Job/fit-trainer takes spec.activeDeadlineSeconds from kubectl-edit" in result.stdout
    assert deadline(user) == 7200
    assert pods <= {pod["metadata"]["uid"] for pod in user.all("pods")}
    # Nothing is left to take over, and nothing is changed.
    before = user.settled()
    result = user.run("apply", *force)
    assert {line.split()[1] for line in result.stdout.splitlines()} == {"unchanged"}
    assert user.everything() == before
    user.run("diff", spec, *TIMEOUT)


def test_an_edit_before_the_fields_are_taken_is_no_part_of_it(user: User, spec: str) -> None:
    events = troubled(user, spec, 3, forced, {"spec": {"activeDeadlineSeconds": 50000}})
    assert "was changed concurrently by someone else (spec.activeDeadlineSeconds)" in events
    assert deadline(user) == 50000


def test_what_changes_nothing_of_ours_is_no_obstacle(user: User, spec: str) -> None:
    """A label set by someone else does not affect the change, and is kept."""
    events = troubled(user, spec, 0, forced, {"metadata": {"labels": {"theirs": "yes"}}})
    assert "takes spec.activeDeadlineSeconds" in events
    assert deadline(user) == 7200
    assert user.get("jobs", "fit-trainer")["metadata"]["labels"]["theirs"] == "yes"


def test_an_edit_between_read_and_write_is_a_conflict(user: User) -> None:
    """No version is needed for that: the server records who set a field last."""
    path = user.ps(run_for="1h")
    user.run("apply", path, *TIMEOUT)
    edits: list[int] = []

    def decide(seen: Seen) -> Fate:
        if not edits and seen.method == "PATCH" and "/jobs/fit-trainer?" in seen.path:
            edits.append(seen.number)
            edit(user, "fit-trainer", {"spec": {"activeDeadlineSeconds": 50000}}, "someone")
        return Fate()

    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        other = user._replace(kubeconfig=kubeconfig)
        result = other.run("apply", path, "-u", "policy.timeout=3h", code=3)
    assert edits
    assert "spec.activeDeadlineSeconds (someone)" in result.stderr
    assert deadline(user) == 50000


def test_a_replacement_ends_what_others_have_set(user: User) -> None:
    spec = (user.ps(run_for="1h"), "-u", "pservers.workload=StatefulSet")
    user.run("apply", *spec, "--wait", "ready", "--timeout", "60s")
    user.plane.kubectl("scale", "statefulset", "fit-pserver", "-n", user.namespace, "--replicas=3")
    changed = (*spec, "-u", "pservers.replicas=4", "-u", "image=registry.test/paddle:2")
    refused = user.run("diff", *changed, code=1).stdout
    shown = user.run("diff", *changed, "--replace", code=1)
    # A refusal shows what it refuses.
    rows = refused.partition("\n\n")[2].removesuffix("; apply would refuse 1 job\n")
    assert shown.stdout.partition("\n\n")[2] == f"{rows}\n"
    assert "kubectl" not in shown.stdout + shown.stderr
    assert "spec-hash" not in shown.stdout
    user.run("apply", *changed, "--replace", "--wait", "ready", "--timeout", "60s")
    assert user.get("statefulsets", "fit-pserver")["spec"]["replicas"] == 4
