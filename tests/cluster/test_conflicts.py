"""Fields that others have set: respected unless a person says otherwise."""

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
    """A running job whose deadline somebody else has set since."""
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
    found: int = user.get("jobs", "fit-trainer")["spec"]["activeDeadlineSeconds"]
    return found


def troubled(user: User, spec: str, code: int, when: Callable[[Seen], bool], patch: object) -> str:
    """Force an apply while somebody changes the trainers' Job; what was told."""
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
        told = other.run("apply", spec, *TIMEOUT, "--force-conflicts", code=code)
    assert edits
    return told.stdout + told.stderr


def forced(seen: Seen) -> bool:
    """Whether a request is the one that takes fields."""
    return "force=true" in seen.path and "dryRun" not in seen.path


def test_fields_of_others_are_respected(user: User, spec: str) -> None:
    told = user.run("diff", spec, *TIMEOUT, code=1)
    assert "Job/fit-trainer: in conflict: fields owned by other managers" in told.stdout
    assert "spec.activeDeadlineSeconds (kubectl-edit)" in told.stdout
    assert "~ spec.activeDeadlineSeconds: 60000 -> 7200" in told.stdout
    assert told.stdout.splitlines()[-1].endswith("; 1 in conflict")
    assert "--force-conflicts" in told.stdout
    told = user.run("apply", spec, *TIMEOUT, code=3)
    assert "spec.activeDeadlineSeconds (kubectl-edit)" in told.stderr
    assert "--force-conflicts" in told.stderr
    assert deadline(user) == 60000


def test_fields_of_others_are_taken_where_asked(user: User, spec: str) -> None:
    pods = {each["metadata"]["uid"] for each in user.all("pods")}
    force = (spec, *TIMEOUT, "--force-conflicts")
    user.run("apply", *force, "--dry-run", "server")
    assert deadline(user) == 60000
    told = user.run("apply", *force)
    assert "Job/fit-trainer takes spec.activeDeadlineSeconds from kubectl-edit" in told.stdout
    assert deadline(user) == 7200
    assert pods <= {each["metadata"]["uid"] for each in user.all("pods")}
    # Nothing is left to take, and nothing is disturbed.
    before = user.settled()
    told = user.run("apply", *force)
    assert {line.split()[1] for line in told.stdout.splitlines()} == {"unchanged"}
    assert user.everything() == before
    user.run("diff", spec, *TIMEOUT)


def test_an_edit_before_the_fields_are_taken_is_no_part_of_it(user: User, spec: str) -> None:
    told = troubled(user, spec, 3, forced, {"spec": {"activeDeadlineSeconds": 50000}})
    assert "was changed at the same moment by somebody else (spec.activeDeadlineSeconds)" in told
    assert deadline(user) == 50000


def test_what_changes_nothing_of_ours_is_no_obstacle(user: User, spec: str) -> None:
    """A label of somebody's does not make it another change, and stays."""
    told = troubled(user, spec, 0, forced, {"metadata": {"labels": {"theirs": "yes"}}})
    assert "takes spec.activeDeadlineSeconds" in told
    assert deadline(user) == 7200
    assert user.get("jobs", "fit-trainer")["metadata"]["labels"]["theirs"] == "yes"


def test_an_edit_between_read_and_write_is_a_conflict(user: User) -> None:
    """No version is needed for that: who set a field last is known."""
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
        told = other.run("apply", path, "-u", "policy.timeout=3h", code=3)
    assert edits
    assert "spec.activeDeadlineSeconds (someone)" in told.stderr
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
