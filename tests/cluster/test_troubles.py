"""Disturbances during an apply: restarting servers, many foreign objects, concurrent edits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from interceptor import Fate, Seen, intercepted
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

OTHERS = 500


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def test_a_crowd_of_others_costs_nothing_and_stays(user: User) -> None:
    spec = user.ps(run_for="1h")
    counts: list[int] = []
    requests: list[Seen] = []

    def decide(seen: Seen) -> Fate:
        requests.append(seen)
        return Fate()

    def count(*arguments: str, code: int = 0) -> None:
        # An object that changes while it is compared is read again.
        user.settled()
        requests.clear()
        user._replace(kubeconfig=kubeconfig).run(*arguments, code=code)
        # Waiting for leftovers polls as often as necessary.
        counts.append(len([request for request in requests if "/pods" not in request.path]))

    commands = [("diff", spec, 1), ("apply", spec, 0), ("diff", spec, 0), ("apply", spec, 0)]
    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        for verb, path, code in commands:
            count(verb, path, code=code)
        user.run("delete", "fit")
        alone = counts.copy()
        counts.clear()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: crowd(user, number), range(OTHERS)))
        before = user.everything()
        for verb, path, code in commands:
            count(verb, path, code=code)
    assert counts == alone
    after = user.everything()
    assert {key: after.get(key) for key in before} == before
    user.run("delete", "fit")
    assert user.everything() == before


def crowd(user: User, number: int) -> None:
    """Many foreign objects, some with names and labels like ours."""
    metadata = {"name": f"fit-{number}", "labels": {"app.kubernetes.io/name": "fit"}}
    if number % 2:
        user.plane.request("POST", user.path("configmaps"), {"metadata": metadata})
    else:
        spec = {"clusterIP": "None", "ports": [{"port": 80}]}
        user.plane.request("POST", user.path("services"), {"metadata": metadata, "spec": spec})


def test_an_edit_between_two_applies_is_told_and_not_overwritten(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "-u", "policy.timeout=2h", "--wait", "ready", "--timeout", "60s")
    user.plane.kubectl(
        *("patch", "job", "fit-trainer", "-n", user.namespace, "--type=merge"),
        *("-p", '{"spec": {"activeDeadlineSeconds": 60000}}', "--field-manager=editor"),
    )
    before = user.settled()
    result = user.run("apply", spec, "-u", "policy.timeout=2h", code=3)
    assert "spec.activeDeadlineSeconds (editor)" in result.stderr
    assert user.everything() == before
