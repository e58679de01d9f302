"""Servers of the control plane restart while commands need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from follower import PODS, WROTE, Follower, kill, logging, once, running
from user import User, conditions

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.mark.parametrize("server", ["apiserver", "etcd"])
def test_a_wait_outlives_a_restart(user: User, server: str) -> None:
    spec = user.ps(run_for="6s")
    waiting = user.start("apply", spec, "--wait", "complete", "--timeout", "120s")
    user.plane.eventually(lambda: user.get_or_none("jobs", "fit-trainer"), within=60)
    user.plane.restart(server)
    _, err = waiting.communicate(timeout=150)
    assert waiting.returncode == 0, err
    assert "Complete" in conditions(user.get("jobs", "fit-trainer"))
    assert user.get("jobs", "fit-pserver")["spec"]["suspend"] is True
    [run] = user.history()
    assert run["state"] == "succeeded"


def test_a_restart_of_the_server_loses_and_doubles_no_line(user: User) -> None:
    running(user)
    with logging(user.plane) as log:
        follower = Follower(user)
        follower.until(lambda lines: len(lines) == len(PODS) * len(WROTE))
        log.write("before")
        user.plane.restart("apiserver")
        log.write("after")
        follower.until(lambda lines: len(lines) >= len(PODS) * (len(WROTE) + 2))
        kill(user)
        assert follower.end() == ""
    assert follower.texts() == once([*WROTE, "before", "after"])
