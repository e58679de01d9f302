"""A target and its kind from another package: every command serves it as it serves its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from forked import Ended
from training_operator import operating
from user import COMMAND, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from control_plane import ControlPlane

PLUGIN = Path(__file__).parents[4] / "examples" / "plugin"
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  target: paddlejob
  mode: collective
  image: registry.test/paddle:1
  command: python train.py
  trainers: {replicas: 1, resources: {cpu: 1, memory: 1Gi}}
"""


class Installed(NamedTuple):
    """A user of a command line that has the plugin installed."""

    user: User
    folder: Path

    def run(self, *arguments: str, code: int = 0) -> Ended:
        """Run a command, which must end with *code*."""
        command = [*COMMAND, *arguments]
        if arguments[0] in ("apply", "diff") and self.user.templates.exists():
            command += ["--templates", str(self.user.templates)]
        done = subprocess.run(
            command,
            env={**self.user.environment, "PYTHONPATH": str(self.folder)},
            cwd=self.user.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return Ended(done.returncode, done.stdout, done.stderr)

    def job(self) -> dict[str, str]:
        """Return what `get jobs` reports of the only job."""
        listed = json.loads(self.run("get", "jobs", "-a", "-o", "json").stdout)["jobs"]
        (job,) = listed
        return dict(job)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example as a user does, apart from its dependency, which is this checkout."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", str(folder), str(PLUGIN)], check=True)
    return folder


@pytest.fixture
def installed(
    control_plane: ControlPlane,
    namespace: str,
    tmp_path: Path,
    extensions: Callable[..., None],
    package: Path,
) -> Iterator[Installed]:
    extensions("kubeflow")
    user = User.admin(control_plane, namespace, tmp_path)
    with operating(user):
        yield Installed(user, package)


def test_the_package_is_small() -> None:
    lines = [
        line
        for module in PLUGIN.rglob("*.py")
        for line in module.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    assert len(lines) < 80


def test_apply_waits_for_its_end(installed: Installed) -> None:
    installed.user.mark(run_for="2s")
    path = installed.user.write(SPEC)
    applied = installed.run("apply", path, "--wait", "complete", "--timeout", "60s")
    assert "complete" in applied.stderr
    assert installed.job()["state"] == "succeeded"
    assert installed.job()["target"] == "paddlejob"
    assert [run["state"] for run in installed.user.history()] == ["succeeded"]
    installed.run("diff", path)
    assert "nothing to do" in installed.run("apply", path).stderr


def test_a_failure_is_reported_with_its_exit_code(installed: Installed) -> None:
    installed.user.mark(run_for="1s", fail="7")
    path = installed.user.write(SPEC)
    failed = installed.run("apply", path, "--wait", "complete", "--timeout", "60s", code=4)
    assert "PaddleJob/fit failed" in failed.stderr
    assert "exit code 7" in installed.run("status", "fit", code=4).stdout
    assert installed.job()["state"] == "failed"


def test_a_running_job_is_replaced_only_with_consent(installed: Installed) -> None:
    installed.user.mark(run_for="1h")
    path = installed.user.write(SPEC)
    installed.run("apply", path, "--wait", "ready", "--timeout", "60s")
    before = installed.user.get("paddlejobs", "fit")["metadata"]["uid"]
    change = ("-u", "trainers.resources.cpu=2")
    installed.run("apply", path, *change, code=3)
    assert "-/+ PaddleJob/fit" in installed.run("diff", path, *change, "--replace", code=1).stdout
    assert installed.user.get("paddlejobs", "fit")["metadata"]["uid"] == before
    installed.run("apply", path, *change, "--replace", "--wait", "ready", "--timeout", "60s")
    assert installed.user.get("paddlejobs", "fit")["metadata"]["uid"] != before
    assert [run["state"] for run in installed.user.history()] == ["replaced", "running"]


def test_kill_stops_its_pods(installed: Installed) -> None:
    installed.user.mark(run_for="1h")
    path = installed.user.write(SPEC)
    installed.run("apply", path, "--wait", "ready", "--timeout", "60s")
    assert "trainers" in installed.run("status", "fit").stdout
    (worker,) = json.loads(installed.run("get", "workers", "fit", "-o", "json").stdout)["workers"]
    assert (worker["role"], worker["state"]) == ("trainers", "running")
    installed.run("kill", "fit", "--yes", "--timeout", "60s")
    assert installed.user.all("pods") == []
    assert installed.job()["state"] == "killed"
    installed.run("delete", "fit", "--yes")
    assert json.loads(installed.run("get", "jobs", "-a", "-o", "json").stdout)["jobs"] == []


def test_quota_counts_its_pods(installed: Installed) -> None:
    quota = {"metadata": {"name": "team"}, "spec": {"hard": {"pods": "5", "requests.cpu": "3"}}}
    installed.user.plane.request("POST", installed.user.path("resourcequotas"), quota)
    path = installed.user.write(SPEC)
    fits = json.loads(installed.run("get", "quota", "--for", path, "-o", "json").stdout)
    assert fits["fits"] is True
    short = ("-u", "trainers.resources.cpu=4")
    installed.run("get", "quota", "--for", path, *short, code=3)
