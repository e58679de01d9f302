"""`apply --target local --in-image`: replicas in containers, watched and ended as processes are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from containers import Podman, provided
from rehearsal import eventually, kill

from paddlespec.backends.local.store.job_folder import JobFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.local.store.launch import Launch
    from paddlespec.backends.local.store.run_state import Status

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {{name: fit}}
spec:
  mode: parallel
  image: {image}
  command: {command}
  env: {{COLOUR: blue, TOKEN: {{secret: team-token, key: token}}}}
  trainers: {{replicas: 1, resources: {{cpu: 10m, memory: 40Mi}}}}
"""


class User(NamedTuple):
    """A user with podman, a folder for a spec, and a token in the shell."""

    folder: Path
    podman: Podman

    @property
    def environment(self) -> dict[str, str]:
        # Podman finds images below the home folder.
        places = {"XDG_STATE_HOME": str(self.folder / "state")}
        places |= {"KUBECONFIG": str(self.folder / "none"), "TOKEN": "canary"}
        return {**os.environ, **places, **self.podman.environment}

    def write(self, command: str, more: str = "") -> None:
        text = SPEC.format(image=self.podman.image, command=json.dumps(command))
        (self.folder / "paddlejob.yaml").write_text(text + more, encoding="utf-8")

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "paddlespec", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done

    def apply(
        self, command: str, *arguments: str, more: str = "", code: int = 0
    ) -> subprocess.CompletedProcess[str]:
        self.write(command, more)
        local = ("--target", "local", "--in-image")
        return self.run("apply", "paddlejob.yaml", *local, *arguments, code=code)

    @property
    def job(self) -> JobFolder:
        return JobFolder("default", "fit", self.environment)

    @property
    def launch(self) -> Launch:
        launch = self.job.launch(self.number)
        assert launch is not None
        return launch

    @property
    def number(self) -> int:
        last = self.job.history().ran
        assert last is not None
        return last.number

    @property
    def status(self) -> Status:
        status = self.job.status(self.number)
        assert status is not None
        return status

    @property
    def pid(self) -> int:
        """The process of the first replica, which is `podman run`."""
        pid = self.status.replicas[0].pid
        assert pid is not None
        return pid

    @property
    def containers(self) -> list[str]:
        return self.podman.containers(f"paddlespec-{self.launch.uid[:8]}-")

    def printed(self, text: str) -> None:
        """Wait until the replica prints *text*."""
        path = Path(self.job.run(self.number), "logs", "fit-trainer-0.log")
        eventually(lambda: path.exists() and text in path.read_text(encoding="utf-8"))

    def nothing_left(self) -> None:
        eventually(lambda: not self.job.alive())
        assert self.containers == []


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    known = provided(tmp_path_factory.mktemp("podman"))
    if isinstance(known, str):
        pytest.skip(f"rehearsals in images are NOT TESTED: {known}")
    yield known
    known("rmi", "--force", known.image)


@pytest.fixture
def user(tmp_path: Path, podman: Podman) -> Iterator[User]:
    made = User(tmp_path, podman)
    yield made
    if made.job.exists:
        made.run("delete", "fit", "--target", "local", "--yes")
        eventually(lambda: not made.job.alive())


def test_a_replica_sees_its_image_and_its_variables(user: User) -> None:
    script = "cat /etc/mark; echo $COLOUR $HOSTNAME $TOKEN; id -u; test -e /work || echo alone"
    user.apply(script, "--wait", "complete")
    out = user.run("logs", "fit").stdout
    for line in ("of the image", "blue fit-trainer-0 canary", "0", "alone"):
        assert line in out
    user.nothing_left()


def test_folders_are_at_their_true_paths(user: User) -> None:
    (user.folder / "input, of:all").mkdir()
    (user.folder / "input, of:all" / "numbers").write_text("1 2 3\n")
    (user.folder / "train.txt").write_text("code\n")
    more = """\
  package: {path: .}
  volumes:
  - {name: data, mountPath: /data, claim: shared, readOnly: true}
  - {name: output, mountPath: /output, emptyDir: {}}
  output: /output
"""
    script = (
        "pwd; cat train.txt /data/numbers; touch /data/x || echo kept; "
        "echo done > $PADDLESPEC_OUTPUT/model; echo lines > /tmp/paddle-log/worker"
    )
    mount = f"/data={user.folder}/input, of:all"
    done = user.apply(script, "--mount", mount, "--wait", "complete", more=more)
    for line in ("/workspace", "code", "1 2 3", "kept"):
        assert line in done.stdout
    output = user.launch.output
    assert output is not None
    assert Path(output, "model").read_text() == "done\n"
    logs = Path(user.job.run(user.number), "paddle-log", "fit-trainer-0")
    assert (logs / "worker").read_text() == "lines\n"


def test_values_of_secrets_are_in_no_command_and_no_file(user: User) -> None:
    user.apply("echo up; sleep 600", "--wait", "ready")
    user.printed("up")
    commands = [_read(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert any(user.launch.uid[:8].encode() in command for command in commands)
    assert not any(b"canary" in command for command in commands)
    files = [path for path in (user.folder / "state").rglob("*") if path.is_file()]
    assert not any(b"canary" in _read(path) for path in files)


def test_the_requirements_are_installed_in_the_container(user: User) -> None:
    (user.folder / "requirements.txt").write_text("numpy\n")
    more = "  package: {path: ., pip: ['a>1']}\n"
    done = user.apply("echo then", "--wait", "complete", more=more)
    assert "python of the image: -m pip install --no-cache-dir" in done.stdout
    assert "-r /workspace/requirements.txt a>1" in done.stdout
    assert "then" in done.stdout
    assert "installing" not in done.stderr


@pytest.mark.parametrize(
    ("command", "words"), [("exit 7", "exit code 7"), ("none-such", "exit code 127")]
)
def test_a_failure_has_the_exit_code_of_the_program(user: User, command: str, words: str) -> None:
    done = user.apply(command, "--wait", "complete", code=4)
    assert words in done.stderr
    user.nothing_left()


def test_a_second_attempt_has_a_container_of_its_own(user: User) -> None:
    more = "  volumes: [{name: mine, mountPath: /mine, emptyDir: {}}]\n  policy: {retries: 1}\n"
    script = "test -e /mine/x || test -e /x && echo again; touch /mine/x /x; exit 3"
    user.apply(script, "--wait", "complete", code=4, more=more)
    assert user.status.replicas[0].attempt == 2
    assert "again" not in user.run("logs", "fit").stdout
    user.nothing_left()


def test_exec_runs_in_the_container(user: User) -> None:
    user.apply("touch /here; echo up; sleep 600", "--wait", "ready")
    user.printed("up")
    script = "ls /here; echo $COLOUR $TOKEN; exit 7"
    done = user.run("exec", "fit", "--index", "0", "--", "sh", "-c", script, code=7)
    assert done.stdout.split() == ["/here", "blue", "canary"]
    user.run("kill", "fit", "--target", "local", "--yes")
    user.nothing_left()
    done = user.run("exec", "fit", "--index", "0", "--", "true", code=3)
    assert "no trainer 0 of fit is running" in done.stderr


def test_a_kill_ends_the_container(user: User) -> None:
    user.apply("trap 'echo asked; exit 0' TERM; echo up; sleep 600 & wait", "--wait", "ready")
    user.printed("up")
    assert user.containers
    user.run("kill", "fit", "--target", "local", "--yes")
    user.nothing_left()
    assert "asked" in user.run("logs", "fit").stdout


def test_a_killed_client_takes_its_container_with_it(user: User) -> None:
    user.apply("echo up; sleep 600", "--wait", "ready")
    user.printed("up")
    os.kill(user.pid, signal.SIGKILL)
    eventually(lambda: user.status.phase.is_over)
    assert user.status.replicas[0].code == 137
    user.nothing_left()


def test_the_guard_of_a_killed_supervisor_removes_its_containers(user: User) -> None:
    user.apply("echo up; sleep 600", "--wait", "ready")
    user.printed("up")
    assert user.status.pid is not None
    os.kill(user.status.pid, signal.SIGKILL)
    eventually(lambda: user.status.phase.is_over)
    user.nothing_left()


def test_containers_of_a_lost_run_end_with_the_next_command(user: User) -> None:
    user.apply("echo up; sleep 600", "--wait", "ready")
    user.printed("up")
    supervisor = user.status.pid
    assert supervisor is not None
    guard = int(Path(f"/proc/{supervisor}/stat").read_text().rpartition(")")[2].split()[1])
    kill(guard)
    kill(supervisor)
    eventually(lambda: not user.job.alive())
    assert user.containers
    done = user.run("kill", "fit", "--target", "local", "--yes")
    assert "1 process of a lost run" in done.stdout
    assert user.containers == []


def test_memory_is_limited(user: User) -> None:
    # The shell must outlive `sleep`: it would replace itself by its last command.
    script = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 600; echo ${#x}"
    done = user.apply(script, "--wait", "complete", code=4)
    assert "out of memory" in done.stderr
    user.nothing_left()


def test_an_image_that_cannot_be_pulled_is_an_error(user: User) -> None:
    user.write("true")
    update = ("-u", "image=127.0.0.1:1/none:1")
    local = ("--target", "local", "--in-image")
    done = user.run("apply", "paddlejob.yaml", *local, *update, code=3)
    (line,) = [line for line in done.stderr.splitlines() if "cannot pull" in line]
    assert "cannot pull 127.0.0.1:1/none:1: " in line
    assert line.endswith("connection refused")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
