"""Commands for all namespaces and their number of requests, while nothing else runs."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def many(user: User, first: int, last: int) -> None:
    """Suspended jobs, with the inventories of their runs."""
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(partial(held, user), range(first, last)):
            pass


def held(user: User, number: int) -> None:
    name = f"job-{number}"
    labels = {"paddlespec.io/job": name, "paddlespec.io/role": "trainers"}
    container = {"name": "paddle", "image": "registry.test/paddle:1"}
    spec = {"containers": [container], "restartPolicy": "Never"}
    pod = {"metadata": {"labels": labels}, "spec": spec}
    live = {
        "metadata": {"name": f"{name}-trainer", "labels": labels},
        "spec": {"suspend": True, "template": pod},
    }
    uid = user.plane.request("POST", user.path("jobs"), live)["metadata"]["uid"]
    run = {"run": 1, "state": "running", "uid": uid, "who": "alice"}
    marked = {"name": f"{name}.paddlespec", "labels": {"paddlespec.io/inventory": name}}
    kept = {"runs.json": json.dumps([run]), "spec-1.yaml": "spec: {mode: parallel}\n"}
    user.plane.request("POST", user.path("configmaps"), {"metadata": marked, "data": kept})


def requests(user: User, *arguments: str) -> tuple[int, str]:
    """Return how many requests a command makes, and its output."""

    def seen() -> int:
        listed = user.plane.audit(user="admin")
        return sum(event.get("userAgent", "").startswith("paddlespec") for event in listed)

    before = seen()
    shown = user.run(*arguments).stdout
    return seen() - before, shown


def test_the_number_of_requests_does_not_grow_with_that_of_the_jobs(user: User) -> None:
    made = 0
    for count in (1, 50, 500):
        many(user, made, count)
        made = count
        for arguments in (("-a",), ("-a", "--user", "alice", "-o", "wide")):
            number, shown = requests(user, "get", "jobs", *arguments)
            assert len(shown.splitlines()) == 1 + count
            assert number == 4, arguments  # inventories, and a list for each built-in kind
    number, shown = requests(user, "get", "jobs", "-A", "-o", "name")
    assert number == 4
    assert f"{user.namespace}/job-499" in shown
    number, _ = requests(user, "get", "workers", "job-7")
    assert number == 5


def test_the_history_of_all_namespaces(user: User) -> None:
    user.run("apply", user.ps("a", run_for="1h"))
    every = user.run("get", "history", "-A", "-o", "name").stdout.splitlines()
    assert f"{user.namespace}/a" in every
    assert user.run("get", "history", "-A").stdout.startswith("NAMESPACE")
