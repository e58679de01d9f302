"""
No launcher trains separate models: each spelling, in each generation of Paddle, forms one job.

The program only prints what it is; the launchers and their rendezvous are Paddle's own.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paddlespec.backends.local.prepare.variables import resolve
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(sys.platform != "linux", reason="needs a loopback address per replica"),
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None,
        reason="PaddlePaddle is not installed: pip install '.[paddle]'",
    ),
]

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """\
import os
rank, size = os.environ["PADDLE_TRAINER_ID"], os.environ["PADDLE_TRAINERS_NUM"]
with open(os.path.join(os.environ["RESULTS"], f"{rank} of {size}"), "w") as file:
    file.write(os.environ["PADDLE_CURRENT_ENDPOINT"])
"""
# As scripts of earlier platforms start it.
SCRIPT = """\
nnodes=$PADDLE_TRAINERS_NUM
rank=$PADDLE_TRAINER_ID
python -m paddle.distributed.launch --nnodes=$nnodes --rank $rank train.py
"""
COMMANDS = {
    "launch": "python -m paddle.distributed.launch train.py",
    "fleet": "python -m paddle.distributed.fleet.launch train.py",
    "script": "bash run.sh",
    "two-each": "python -m paddle.distributed.fleet.launch"
    " --nproc_per_node $PADDLE_NPROC_PER_NODE train.py",
}
REQUIREMENTS = {
    "2.6.2": (EXAMPLES / "fit-a-line-ps" / "requirements.txt").read_text(encoding="utf-8"),
    "3.0.0": "paddlepaddle==3.0.0\nsetuptools\n",
    "installed": "",
}
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec:
  mode: collective
  image: team/train:1
  package: {{path: .}}
  command: {command}
  env: {{RESULTS: /output}}
  trainers: {{replicas: 2, processesPerReplica: {processes}, resources: {{cpu: 1, memory: 2Gi}}}}
  volumes: [{{name: output, mountPath: /output, emptyDir: {{}}}}]
"""


def write(folder: Path, name: str, requirements: str = "") -> Path:
    project = folder / name
    project.mkdir()
    processes = 2 if name == "two-each" else 1
    spec = SPEC.format(name=name, command=COMMANDS[name], processes=processes)
    for file, text in (("paddlejob.yaml", spec), ("train.py", PROGRAM), ("run.sh", SCRIPT)):
        (project / file).write_text(text, encoding="utf-8")
    if requirements:
        (project / "requirements.txt").write_text(requirements, encoding="utf-8")
    return project


@pytest.fixture(scope="module", params=REQUIREMENTS)
def ranks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, list[str]]:
    """The ranks of the processes of each job; the jobs run concurrently."""
    folder = tmp_path_factory.mktemp("launchers")
    running = {}
    for name in COMMANDS:
        project = write(folder, name, REQUIREMENTS[request.param])
        (folder / "out" / name).mkdir(parents=True)
        running[name] = subprocess.Popen(
            [
                *(sys.executable, "-m", "paddlespec", "apply", project, "--target", "local"),
                *("--wait", "complete", "--timeout", "8m"),
                *("--mount", f"/output={folder / 'out' / name}"),
            ],
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    for name, process in running.items():
        out, _ = process.communicate(timeout=600)
        assert process.returncode == 0, f"{name}: {out}"
    return {name: sorted(os.listdir(folder / "out" / name)) for name in running}


@pytest.mark.parametrize("name", COMMANDS)
def test_processes_form_one_job(ranks: Mapping[str, list[str]], name: str) -> None:
    size = 4 if name == "two-each" else 2
    assert ranks[name] == [f"{rank} of {size}" for rank in range(size)]


@pytest.mark.parametrize("name", ["launch", "fleet"])
def test_pods_find_each_other_by_name(name: str, tmp_path: Path) -> None:
    """The variables of the pods, with the names of a cluster instead of addresses."""
    inside = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs a mount namespace, for names of its own")
    project = write(tmp_path, name)
    # Paddle's server listens on all addresses, and so do those of other tests.
    with socket.create_server(("", 0)) as probe, (project / "paddlejob.yaml").open("a") as spec:
        spec.write(f"  network: {{ports: {{master: {probe.getsockname()[1]}}}}}\n")
    (loaded,), _ = load(str(project / "paddlejob.yaml"), Files(), Choices(target="local"))
    rendered = build(loaded, Templates()).manifests
    processes = [manifest for manifest in rendered if manifest["kind"] == "Process"]
    lines = []
    for index, process in enumerate(processes):
        host = process["spec"]["host"].replace("$(NS)", "default")
        lines.append(f"127.98.1.{index + 1} {host}\n")
    (tmp_path / "hosts").write_text("".join(["127.0.0.1 localhost\n", *lines]), encoding="utf-8")
    (tmp_path / "out").mkdir()
    bind = f"mount --bind {tmp_path / 'hosts'} /etc/hosts && exec {COMMANDS[name]}"
    running = [
        subprocess.Popen(
            [*inside, "sh", "-c", bind],
            env={
                **os.environ,
                **resolve(process, "default", {}).values,
                "RESULTS": str(tmp_path / "out"),
                "PADDLE_LOG_DIR": str(tmp_path / f"log-{index}"),
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            },
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for index, process in enumerate(processes)
    ]
    for launcher in running:
        out, _ = launcher.communicate(timeout=120)
        assert launcher.returncode == 0, out
    endpoints = {file.name: file.read_text() for file in (tmp_path / "out").iterdir()}
    assert {rank: endpoint.partition(":")[0] for rank, endpoint in endpoints.items()} == {
        f"{index} of 2": f"{name}-trainer-{index}.{name}-trainer.default.svc" for index in range(2)
    }
