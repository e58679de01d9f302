"""Sidecars end with their replica, as the real API server and controllers see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from targets import HEAD
from user import User, conditions

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

SPEC = """\
  mode: ps
  command: python train.py
  trainers:
    replicas: 2
    resources: {cpu: 1, memory: 1Gi}
    volumes: [{name: scratch, mountPath: /scratch, emptyDir: {}}]
    sidecars: [{name: board, command: board, volumeMounts: [{name: scratch, readOnly: true}]}]
  pservers: {resources: {cpu: 1, memory: 1Gi}}
  sidecars:
    - name: exporter
      image: registry.test/exporter:1
      args: [--all]
      env: {PORT: 9100}
      resources: {cpu: 100m, memory: 64Mi}
"""


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def test_a_job_with_sidecars_runs_and_ends(user: User) -> None:
    path = user.write(HEAD + SPEC)
    user.mark(run_for="5s")
    user.run("apply", path, "--wait", "ready")
    user.run("diff", path)
    for role, expected in (("trainers", ["exporter", "board"]), ("pservers", ["exporter"])):
        for pod in user.pods(role):
            steps = pod["spec"]["initContainers"]
            assert [step["name"] for step in steps if "restartPolicy" in step] == expected
    user.run("wait", "a", "--for", "complete", "--timeout", "60s")
    assert "Complete" in conditions(user.get("jobs", "a-trainer"))
    shown = user.run("get", "workers", "a").stdout
    assert "143" not in shown


def test_the_log_of_a_sidecar_is_chosen_by_its_name(user: User) -> None:
    user.mark(run_for="1h")
    user.run("apply", user.write(HEAD + SPEC), "--wait", "ready")
    user.run("logs", "a", "-c", "board")
    refused = user.run("logs", "a", "-c", "bord", code=3)
    assert 'no container is called "bord"' in refused.stderr


@pytest.mark.parametrize("workload", ["Job", "StatefulSet"])
def test_the_server_accepts_sidecars(user: User, workload: str) -> None:
    spec = SPEC.replace("pservers: {", f"pservers: {{workload: {workload}, ")
    user.run("apply", user.write(HEAD + spec), "--dry-run", "server")


def test_a_job_set_accepts_sidecars(user: User, extensions: Any) -> None:
    extensions("jobset")
    path = user.write(HEAD + SPEC)
    user.run("apply", path, "--target", "jobset", "--dry-run", "server")
