"""`exec` in a replica of a rehearsal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: parallel
  image: registry.test/paddle:1
  command: sleep 600
  env: {COLOUR: blue, TOKEN: {secret: team-token, key: token}}
  trainers: {replicas: 2, resources: {cpu: 10m, memory: 10Mi}}
"""


def paddlespec(home: Path, *arguments: str, data: str = "") -> subprocess.CompletedProcess[str]:
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home), "KUBECONFIG": str(home / "none")}
    places["TOKEN"] = "canary"
    return subprocess.run(
        [sys.executable, "-m", "paddlespec", *arguments],
        cwd=home,
        env={**os.environ, **places},
        input=data,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "paddlejob.yaml").write_text(SPEC)
    started = paddlespec(
        tmp_path, "apply", "paddlejob.yaml", "--target", "local", "--wait", "ready"
    )
    assert started.returncode == 0, started.stderr
    yield tmp_path
    paddlespec(tmp_path, "kill", "fit", "--yes")


def test_a_command_has_the_variables_and_the_folder_of_its_replica(home: Path) -> None:
    script = "echo $COLOUR $PADDLESPEC_INDEX; cat; pwd; exit 7"
    done = paddlespec(home, "exec", "fit", "--index", "1", "--", "sh", "-c", script, data="in\n")
    assert done.returncode == 7
    first, second, folder = done.stdout.splitlines()
    assert (first, second) == ("blue 1", "in")
    assert folder != str(home)
    assert "secret values are not stored; unset variables: TOKEN" in done.stderr
    assert "canary" not in done.stdout + done.stderr


def test_nothing_runs_in_a_replica_that_has_ended(home: Path) -> None:
    assert paddlespec(home, "kill", "fit", "--yes").returncode == 0
    done = paddlespec(home, "exec", "fit", "--", "true")
    assert done.returncode == 3
    assert "no trainer of fit is running" in done.stderr


def test_what_needs_a_container_or_none_says_so(home: Path) -> None:
    done = paddlespec(home, "port-forward", "fit", "8080:6006", "--index", "1")
    assert done.returncode == 0
    assert re.fullmatch(r"127\.\d+\.\d+\.\d+:6006\n", done.stdout)
    assert "fit-trainer-1 runs on this machine" in done.stderr
    done = paddlespec(home, "shell", "fit")
    assert done.returncode == 2
    assert "paddlespec exec fit -- bash" in done.stderr
