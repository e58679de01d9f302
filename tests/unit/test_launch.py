"""What starts in a replica of a collective job: program, folder, processes, devices, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from targets import container, manifests

from paddlespec.diagnostic import InvalidSpec
from paddlespec.render.devices import DEVICES

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH = "  mode: collective\n  command: python -m paddle.distributed.launch train.py\n"
RESOURCES = "cpu: 1, memory: 2Gi"
DATA = "  volumes: [{name: data, mountPath: /data, claim: c}]\n"


def trainers(resources: str = "", more: str = "") -> str:
    return f"  trainers: {{{more}resources: {{{RESOURCES}{resources}}}}}\n"


def variables(folder: Path, spec: str) -> dict[str, Any]:
    env = container(folder, spec)["env"]
    values = {entry["name"]: entry.get("value") for entry in env}
    (process, *_) = (
        manifest["spec"]
        for manifest in manifests(folder, spec, "target=local")
        if manifest["kind"] == "Process"
    )
    rehearsed = {entry["name"]: entry.get("value") for entry in process["env"]}
    assert {**rehearsed, "JOB_COMPLETION_INDEX": None} == {**values, "JOB_COMPLETION_INDEX": None}
    return values


def test_one_replica_is_the_first_of_one(tmp_path: Path) -> None:
    env = variables(tmp_path, LAUNCH + trainers())
    assert (env["PADDLE_TRAINERS_NUM"], env["PADDLE_NNODES"]) == ("1", "1")
    assert (env["PADDLE_TRAINER_ID"], env["PADDLE_RANK"], env["IDX"]) == ("$(IDX)", "$(IDX)", "0")
    assert env.keys().isdisjoint(("PADDLE_MASTER", "POD_IP", "PADDLE_TRAINERS", "PADDLE_PORT"))


def test_several_replicas_know_their_peers_for_every_launcher(tmp_path: Path) -> None:
    env = variables(tmp_path, LAUNCH + trainers(more="replicas: 2, processesPerReplica: 24, "))
    host = "a-trainer-{}.a-trainer.$(NS).svc"
    assert env["PADDLE_MASTER"] == f"{host.format(0)}:6768"
    assert env["PADDLE_TRAINERS"] == f"{host.format(0)},{host.format(1)}"
    assert env["POD_IP"] == host.format("$(IDX)")
    assert env["PADDLE_TRAINERS_NUM"] == "2"
    assert (env["PADDLE_PORT"], env["TRAINER_PORTS_NUM"]) == ("6170", "24")
    assert "PADDLE_TRAINER_ENDPOINTS" not in env


@pytest.mark.parametrize(
    ("resources", "more", "processes"),
    [
        (", gpu: 8", "", "8"),
        (", gpu: 8", "processesPerReplica: 8, ", "8"),
        ("", "", "1"),
        ("", "processesPerReplica: 2, ", "2"),
    ],
)
def test_a_replica_starts_one_process_for_each_accelerator(
    tmp_path: Path, resources: str, more: str, processes: str
) -> None:
    spec = LAUNCH + trainers(resources, more)
    assert variables(tmp_path, spec)["PADDLE_NPROC_PER_NODE"] == processes


def test_a_job_has_the_working_directory_of_the_image(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    assert "workingDir" not in container(tmp_path, LAUNCH + trainers())
    delivered = container(tmp_path, LAUNCH + trainers() + "  package: {path: .}\n")
    assert delivered["workingDir"] == "/workspace"
    mounted = LAUNCH + trainers() + "  package: {path: /data/code}\n" + DATA
    assert container(tmp_path, mounted)["workingDir"] == "/data/code"
    own = LAUNCH + trainers() + "  workdir: /resnet\n"
    assert container(tmp_path, own)["workingDir"] == "/resnet"


def test_arguments_are_for_the_entry_point_of_the_image(tmp_path: Path) -> None:
    spec = "  mode: collective\n  args: [--epochs, '3']\n"
    main = container(tmp_path, spec + trainers())
    assert main["args"] == ["--epochs", "3"]
    assert "command" not in main
    own = container(tmp_path, spec + trainers(more="args: [--fast], "))
    assert own["args"] == ["--fast"]
    started = container(tmp_path, spec + trainers(more="command: [python, a.py], "))
    assert (started["command"], "args" in started) == (["python", "a.py"], False)


def test_every_replica_has_a_folder_for_its_logs(tmp_path: Path) -> None:
    assert variables(tmp_path, LAUNCH + trainers())["PADDLE_LOG_DIR"] == "/tmp/paddle-log"
    spec = LAUNCH + trainers() + DATA + "  logs: /data/logs/\n"
    assert variables(tmp_path, spec)["PADDLE_LOG_DIR"] == "/data/logs/$(IDX)"


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_custom_devices_are_named_for_paddle_2(tmp_path: Path, device: Any) -> None:
    beginning = device.resources[0]
    resource = f"{beginning}device" if "/" in beginning else f"{beginning}com/gpu"
    spec = LAUNCH + trainers(f", gpu: 2, accelerator: {resource}")
    assert variables(tmp_path, spec).get("PADDLE_XCCL_BACKEND") == device.plugin


def test_a_variable_may_come_from_a_whole_object(tmp_path: Path) -> None:
    """Otherwise, one that the job does not set is an error."""
    spec = f"  mode: parallel\n  command: run $PADDLE_EXTRA\n{trainers()}"
    with pytest.raises(InvalidSpec, match="PADDLE_EXTRA is not set"):
        container(tmp_path, spec)
    assert container(tmp_path, f"{spec}  envFrom: [{{configMap: settings}}]\n")
