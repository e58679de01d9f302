"""Roles beside trainers and pservers, with the real API server and controllers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from user import User, conditions

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: collective
  image: registry.test/train:1
  command: python -m paddle.distributed.launch train.py
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
  roles:
    evaluator:
      command: python evaluate.py
      resources: {cpu: 1, memory: 1Gi}
    model-server:
      replicas: 2
      image: registry.test/serve:1
      command: python serve.py
      ports: {http: 8080}
      resources: {cpu: 1, memory: 1Gi}
"""


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def test_roles_run_beside_the_trainers(user: User) -> None:
    path = user.write(SPEC)
    user.mark(run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    user.run("diff", path)
    assert sorted(user.names("services")) == ["fit-evaluator", "fit-model-server", "fit-trainer"]
    expected = {"trainers": 2, "evaluator": 1, "model-server": 2}
    for role, count in expected.items():
        pods = user.pods(role)
        assert len(pods) == count
        assert {pod["spec"]["subdomain"] for pod in pods} == {f"fit-{role.removesuffix('s')}"}

    def ready() -> dict[str, int]:
        (job,) = json.loads(user.run("get", "jobs", "-o", "json").stdout)["jobs"]
        return {name: role["ready"] for name, role in job["roles"].items()}

    user.plane.eventually(lambda: ready() == expected)
    assert "evaluator 1/1,model-server 2/2" in user.run("get", "jobs").stdout
    refused = user.run("exec", "fit", "--role", "evaluater", "--", "true", code=3)
    assert "fit has no evaluater" in refused.stderr


def test_other_roles_are_stopped_when_the_trainers_end(user: User) -> None:
    user.mark(run_for="5s")
    result = user.run("apply", user.write(SPEC), "--wait", "complete", "--timeout", "60s")
    assert "fit: complete, evaluator, model-server stopped" in result.stderr
    assert "Complete" in conditions(user.get("jobs", "fit-trainer"))
    for name in ("fit-evaluator", "fit-model-server"):
        assert user.get("jobs", name)["spec"]["suspend"] is True
    user.plane.eventually(lambda: not user.running("evaluator"))


def test_a_changed_role_replaces_the_job(user: User) -> None:
    path = user.write(SPEC)
    user.mark(run_for="1h")
    user.run("apply", path, "--wait", "ready", "--timeout", "60s")
    before = user.get("jobs", "fit-trainer")["metadata"]["uid"]
    changed = ("-u", "roles.evaluator.command=python other.py")
    user.run("apply", path, *changed, code=3)
    user.run("apply", path, *changed, "-u", "policy.whenChanged=replace-running")
    assert user.get("jobs", "fit-trainer")["metadata"]["uid"] != before
    user.run("kill", "fit")
    user.plane.eventually(lambda: not user.names("pods"), within=60)


def test_a_lost_replica_of_any_role_fails_the_run(user: User) -> None:
    user.mark(run_for="1h")
    process = user.start("apply", user.write(SPEC), "--wait", "complete")
    user.plane.eventually(lambda: user.running("trainers") == 2 and user.running("evaluator") == 1)
    name = user.pods("evaluator")[0]["metadata"]["name"]
    user.plane.request("DELETE", f"{user.path('pods')}/{name}")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert "Job/fit-evaluator fail" in err
    job = json.loads(user.run("get", "jobs", "-o", "json").stdout)["jobs"][0]
    assert (job["state"], job["reason"].partition(":")[0]) == ("failing", "evaluator")


@pytest.mark.parametrize(
    "updates",
    [
        ["trainers.replicas=1"],
        ["mode=parallel", "policy.retries=2"],
        ["mode=ps", "command=python train.py", "pservers.resources.memory=1Gi"],
        ["mode=legacy", "command=python train.py", "pservers.resources.memory=1Gi"],
        ["network.host=true", "roles.model-server.replicas=3"],
    ],
)
def test_the_server_accepts_roles_in_every_mode(user: User, updates: list[str]) -> None:
    options = [option for update in updates for option in ("-u", update)]
    user.run("apply", user.write(SPEC), *options, "--dry-run=server")
    assert user.names("jobs") == []
