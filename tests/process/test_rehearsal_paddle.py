"""
Rehearsals with Paddle itself: jobs that train, and every way in which they can fail.

Each run has real trainers and servers. They share a cache of Python environments, so Paddle's older
version with parameter servers is installed once.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from rehearsal import MARK, eventually, kill, marked

from paddlespec.backends.local.store.job_folder import JobFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlespec.backends.local.store.run_state import Status

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None,
        reason="PaddlePaddle is not installed: pip install '.[paddle]'",
    ),
]

EXAMPLES = Path(__file__).parents[2] / "examples"
LAUNCHED = "python -m paddle.distributed.launch train.py"
# What the launcher would set for each trainer; the contract sets the address of the store.
TOLD = """\
  allowManagedEnv: [PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ENDPOINTS, PADDLE_CURRENT_ENDPOINT]
"""
HOST = "{name}-trainer-{index}.{name}-trainer.$(NS).svc:6170"
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec:
  mode: collective
  image: paddlepaddle/paddle:3.0.0
  package: {{path: .}}
  command: ["sh", "-c", {command!r}]
  env: {{{env}}}
  trainers: {{replicas: {replicas}, resources: {{cpu: 1, memory: 2Gi}}}}
  volumes: [{{name: output, mountPath: /output, emptyDir: {{}}}}]
  output: /output
"""


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    def losses(self, trainer: int) -> list[float]:
        return [float(loss) for loss in re.findall(rf"trainer {trainer} .*loss (\S+)", self.out)]

    def weights(self) -> dict[str, str]:
        """Return the final weights of each trainer."""
        return dict(re.findall(r"trainer (\d+) weights (.*)", self.out))


class User(NamedTuple):
    """A user at a shell of this machine."""

    folder: Path
    mark: str

    def write(
        self, command: str, name: str = "fit", replicas: int = 2, more: str = "", program: str = ""
    ) -> Path:
        """Write a job with the program of the example, or another one; return its folder."""
        folder = self.folder / name
        folder.mkdir()
        for file in ("train.py", "housing.csv"):
            shutil.copy(EXAMPLES / "fit-a-line-collective" / file, folder)
        if program:
            (folder / "train.py").write_text(program, encoding="utf-8")
        env = {MARK: self.mark}
        if "launch" not in command:
            more += TOLD
            hosts = [HOST.format(name=name, index=index) for index in range(replicas)]
            env |= {
                "PADDLE_TRAINER_ID": "$(IDX)",
                "PADDLE_TRAINERS_NUM": str(replicas),
                "PADDLE_TRAINER_ENDPOINTS": ",".join(hosts),
                "PADDLE_CURRENT_ENDPOINT": HOST.format(name=name, index="$(IDX)"),
            }
        variables = ", ".join(f'{key}: "{value}"' for key, value in env.items())
        spec = SPEC.format(name=name, command=command, env=variables, replicas=replicas)
        (folder / "paddlejob.yaml").write_text(spec + more, encoding="utf-8")
        return folder

    @property
    def environment(self) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
        return {**own, "XDG_STATE_HOME": str(self.folder / "state")}

    def start(self, *arguments: str | Path, limit: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "paddlespec", *map(str, arguments)]
        if limit:
            command = ["bash", "-c", f'{limit}; exec "$@"', "bash", *command]
        return subprocess.Popen(
            command,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def train(self, *arguments: str | Path, limit: str = "") -> subprocess.Popen[str]:
        """A rehearsal in sight."""
        here = ("apply", *arguments, "--target", "local", "--wait", "complete")
        return self.start(*here, limit=limit)

    def status(self, name: str = "fit") -> Status | None:
        job = JobFolder("default", name, self.environment)
        last = job.history().ran
        return job.status(last.number) if last is not None else None

    def wrote(self, replica: str, text: str, name: str = "fit") -> None:
        """Wait until the log of *replica* contains *text*."""
        log = (
            self.folder / f"state/paddlespec/local/default/{name}/runs/1/logs/{name}-{replica}.log"
        )
        eventually(lambda: log.exists() and text.encode() in log.read_bytes(), 120)

    def pid(self, replica: str, name: str = "fit") -> int:
        status = self.status(name)
        assert status is not None
        (pid,) = [other.pid for other in status.replicas if other.name == f"{name}-{replica}"]
        assert pid is not None
        return pid

    def nothing_left(self) -> None:
        assert not marked(self.mark)


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    made = User(tmp_path, uuid.uuid4().hex)
    yield made
    for pid in marked(made.mark):
        kill(pid)


def end(process: subprocess.Popen[str], within: float = 180) -> Done:
    out, err = process.communicate(timeout=within)
    assert "Traceback" not in err.partition("\n  | ")[0]
    return Done(process.returncode, out, err)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[User, Done]]:
    """Collective jobs that run concurrently: under the launcher, and by the variables alone."""
    user = User(tmp_path_factory.mktemp("together"), uuid.uuid4().hex)
    jobs = {
        "pair": user.write(LAUNCHED, "pair"),
        "trio": user.write(LAUNCHED, "trio", replicas=3),
        "told": user.write("exec python train.py", "told", replicas=2),
        "told-trio": user.write("exec python train.py", "told-trio", replicas=3),
    }
    running = {}
    for name, folder in jobs.items():
        (user.folder / "out" / name).mkdir(parents=True)
        running[name] = user.train(folder, "--mount", f"/output={user.folder / 'out' / name}")
    return {name: (user, end(run)) for name, run in running.items()}


@pytest.mark.parametrize("name", ["pair", "trio", "told", "told-trio"])
def test_trainers_train_one_model_and_save_it(
    together: Mapping[str, tuple[User, Done]], name: str
) -> None:
    user, done = together[name]
    assert done.code == 0, done.err
    count = 3 if "trio" in name else 2
    for trainer in range(count):
        losses = done.losses(trainer)
        assert len(losses) == 10
        assert losses[-1] < losses[0] / 100
    weights = done.weights()
    assert len(weights) == count
    assert len(set(weights.values())) == 1
    assert (user.folder / "out" / name / "model.pdparams").stat().st_size > 100
    lines = done.err.splitlines()[-2:]
    assert lines == [f"{name}: complete", f"{name}: results are in {user.folder / 'out' / name}"]
    user.nothing_left()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[User, Done]]:
    """The example with parameter servers, twice concurrently; it installs Paddle 2.6.2."""
    user = User(tmp_path_factory.mktemp("served"), uuid.uuid4().hex)
    running = {}
    for name in ("one", "two"):
        out = user.folder / "out" / name
        out.mkdir(parents=True)
        running[name] = user.train(
            *(EXAMPLES / "fit-a-line-ps", "-u", f"metadata.name={name}"),
            *("-u", f"env.{MARK}={user.mark}", "--mount", f"/output={out}"),
        )
    return {name: (user, end(run, 600)) for name, run in running.items()}


@pytest.mark.parametrize("name", ["one", "two"])
def test_parameter_servers_serve_and_are_stopped(
    served: Mapping[str, tuple[User, Done]], name: str
) -> None:
    user, done = served[name]
    assert done.code == 0, done.err
    for trainer in range(2):
        losses = done.losses(trainer)
        assert losses[-1] < min(1.0, losses[0])
    assert (user.folder / "out" / name / "model.npz").exists()
    assert f"{name}: complete, pservers stopped" in done.err
    status = user.status(name)
    assert status is not None
    ends = {replica.name: (replica.code, replica.why) for replica in status.replicas}
    assert ends[f"{name}-pserver-1"] == (143, "stopped")
    assert ends[f"{name}-trainer-1"] == (0, None)
    user.nothing_left()


def test_a_trainer_that_is_killed_takes_the_others_with_it_and_is_the_one_named(
    user: User,
) -> None:
    process = user.train(user.write("exec python train.py --pause 1000"))
    user.wrote("trainer-0", "epoch 0")
    user.wrote("trainer-1", "epoch 0")
    os.kill(user.pid("trainer-1"), signal.SIGKILL)
    done = end(process)
    assert done.code == 4
    assert "fit: failed: a replica failed\n  fit-trainer-1: exit code 137 (killed" in done.err
    assert "  | trainer 1 epoch 0 loss" in done.err
    user.nothing_left()


def test_a_trainer_that_is_killed_while_they_meet_leaves_nobody_waiting(user: User) -> None:
    """Its peer would wait forever: no limit in Paddle ends the wait."""
    late = "[ $PADDLESPEC_INDEX = 0 ] && sleep 1000; exec python train.py"
    process = user.train(user.write(late))
    user.wrote("trainer-1", "not yet listening")
    os.kill(user.pid("trainer-1"), signal.SIGKILL)
    done = end(process)
    assert done.code == 4
    assert "  fit-trainer-1: exit code 137 (killed" in done.err
    assert "  | " in done.err
    user.nothing_left()


def test_a_lost_pserver_fails_the_run_whatever_its_trainers_say(user: User) -> None:
    process = user.train(
        *(EXAMPLES / "fit-a-line-ps", "-u", "command=python train.py --pause 1000"),
        *("-u", "metadata.name=fit", "-u", f"env.{MARK}={user.mark}"),
    )
    user.wrote("trainer-0", "epoch 0")
    os.kill(user.pid("pserver-1"), signal.SIGKILL)
    done = end(process)
    assert done.code == 4
    assert "fit: failed: a pserver was lost\n  fit-pserver-1: exit code 137 (killed" in done.err
    user.nothing_left()


def test_a_bad_import_is_told_under_the_launcher_too(user: User) -> None:
    program = "import sys\nif sys.argv[1:] != ['--help']:\n    import no_such_module\n"
    done = end(user.train(user.write(LAUNCHED, program=program, replicas=1)))
    assert done.code == 4
    assert "  fit-trainer-0: exit code 1" in done.err
    assert "ModuleNotFoundError: No module named 'no_such_module'" in done.err
    user.nothing_left()


def test_a_port_that_is_taken_is_told_before_anything_starts(user: User) -> None:
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        folder = user.write(LAUNCHED)
        done = end(user.train(folder, "-u", f"trainers.ports.board={port}"))
        assert done.code == 3
        assert re.search(
            rf"port {port} of 127\.\S+ is in use by \S+ \(process {os.getpid()}\)", done.err
        )
    assert user.status() is None
    user.nothing_left()


def test_the_timeout_of_the_policy_ends_all(user: User) -> None:
    folder = user.write("exec python train.py --pause 1000")
    done = end(user.train(folder, "-u", "policy.timeout=5s"))
    assert done.code == 4
    assert "fit: failed: exceeded its timeout of 5s" in done.err
    user.nothing_left()


def test_a_changed_spec_is_refused_while_trainers_run_and_ctrl_c_ends_them(user: User) -> None:
    folder = user.write("exec python train.py --pause 1000")
    process = user.train(folder)
    user.wrote("trainer-1", "epoch 0")
    before = user.pid("trainer-1")
    refused = end(user.train(folder, "-u", "env.OTHER=yes"))
    assert refused.code == 3
    assert "fit is running and its spec has changed" in refused.err
    assert user.pid("trainer-1") == before
    process.send_signal(signal.SIGINT)
    done = end(process)
    assert done.code == 130
    user.nothing_left()
    status = user.status()
    assert status is not None
    assert status.phase.value == "killed"


def test_a_full_disk_costs_logs_and_neither_training_nor_the_verdict(user: User) -> None:
    (user.folder / "out").mkdir()
    example = (EXAMPLES / "fit-a-line-collective" / "train.py").read_text(encoding="utf-8")
    folder = user.write("exec python train.py", program=f"{example}    print('x' * 400_000)\n")
    out = user.folder / "out"
    done = end(user.train(folder, "--mount", f"/output={out}", limit="ulimit -f 200"))
    assert done.code == 0, done.err
    assert "of output lost: the logs could not be written" in done.err
    assert (user.folder / "out" / "model.pdparams").exists()
    user.nothing_left()
