"""A rehearsal has the variables of the pods that the real API server and controllers make."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from targets import HEAD
from user import User

from paddlespec.backends.local.prepare.options import Options
from paddlespec.backends.local.prepare.prepare import prepare
from paddlespec.backends.local.prepare.variables import HOST
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.runs.values import Work
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

    from paddlespec.backends.local.store.launch import Process

RESOURCES = "resources: {cpu: 1, memory: 1Gi}"
LAUNCH = "python -m paddle.distributed.launch train.py"
TWO = f"  trainers: {{replicas: 2, {RESOURCES}}}\n"
SERVERS = f"  pservers: {{replicas: 1, {RESOURCES}}}\n"
RESTARTED = f"  pservers: {{replicas: 1, workload: StatefulSet, {RESOURCES}}}\n"
SPECS = {
    "collective": f"  mode: collective\n  command: {LAUNCH}\n{TWO}",
    "single": f"  mode: collective\n  command: {LAUNCH}\n  trainers: {{{RESOURCES}}}\n",
    "ps": f"  mode: ps\n  command: python train.py\n{TWO}{SERVERS}",
    "restarted": f"  mode: ps\n  command: python train.py\n{TWO}{RESTARTED}",
    "parallel": f"  mode: parallel\n  command: python train.py\n{TWO}",
    "own": "  mode: parallel\n  command: python train.py\n"
    f'  env: {{JOB_COMPLETION_INDEX: "7"}}\n{TWO}',
}
SAME = (
    *("JOB_COMPLETION_INDEX", "IDX", "NS", "PADDLE_NNODES", "PADDLE_NPROC_PER_NODE"),
    *("PADDLE_TRAINERS_NUM", "TRAINER_PORTS_NUM", "PADDLE_PORT"),
)
COMPUTED = {"PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_process_has_the_variables_of_the_pod(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, spec: str
) -> None:
    user = User.admin(control_plane, namespace, tmp_path)
    path = user.write(HEAD + spec)
    processes = rehearsed(path, tmp_path, namespace)
    user.run("apply", path, "--wait", "ready")
    pods = {hostname(pod): pod for pod in user.all("pods")}
    if "job-completion-index" not in str(pods):
        # A Job that is not indexed names its pod at random.
        pods = {re.sub("-[a-z0-9]{5}$", "-0", name): pod for name, pod in pods.items()}
    assert sorted(pods) == [process.env["HOSTNAME"] for process in processes]
    for process in processes:
        pod = pods[process.env["HOSTNAME"]]
        expected = variables(pod)
        assert process.env.keys() - {*HOST, *COMPUTED} == {*expected, "HOSTNAME"}
        for name in SAME:
            assert (name, process.env.get(name)) == (name, expected.get(name))


def rehearsed(path: str, folder: Path, namespace: str) -> list[Process]:
    """The processes of the spec, by name."""
    (loaded,), _ = load(path, Files(), Choices(target="local"))
    assert loaded.is_valid, loaded.diagnostics
    work = Work("a", build(loaded, Templates()).manifests)
    options = Options(environment={"HOME": str(folder)}, namespace=namespace)
    launch = prepare(work, options, str(folder / "run"))
    return sorted(launch.processes, key=lambda process: process.name)


def hostname(pod: dict[str, Any]) -> str:
    """What the kubelet calls the machine of a pod."""
    name: str = pod["spec"].get("hostname") or pod["metadata"]["name"]
    return name


def variables(pod: dict[str, Any]) -> dict[str, str | None]:
    """The variables of the main container; None for those that refer to others."""
    found: dict[str, str | None] = {}
    for entry in pod["spec"]["containers"][0]["env"]:
        path = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        value = entry.get("value") if path is None else field(pod, path)
        found[entry["name"]] = value if value is None or "$(" not in value else None
    return found


def field(pod: dict[str, Any], path: str) -> Any:
    """Return the value of a downward reference to the metadata of *pod*."""
    _, _, field = path.partition(".")
    holder, _, key = field.partition("['")
    value = pod["metadata"].get(holder)
    found: str | None = value.get(key.removesuffix("']")) if key else value
    return found
