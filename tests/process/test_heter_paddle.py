"""Fleet's own reader of variables understands the two stages of heterogeneous training."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.backends.local.prepare.variables import resolve
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None,
        reason="PaddlePaddle is not installed: pip install '.[paddle]'",
    ),
]

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: ps
  image: team/train:1
  command: python train.py
  trainers: {replicas: 2, resources: {memory: 1Gi}}
  pservers: {replicas: 1, resources: {memory: 1Gi}}
  roles:
    heter: {replicas: 3, resources: {memory: 1Gi, gpu: 1}}
    evaluator: {command: python evaluate.py, resources: {memory: 1Gi}}
"""
# Barriers of gloo need all processes at once.
READS = """\
import json, os
os.environ["PADDLE_WITH_GLOO"] = "0"
from paddle.distributed.fleet.base.role_maker import PaddleCloudRoleMaker
role = PaddleCloudRoleMaker(is_collective=False)
role._generate_role()
print(json.dumps({
    "heter": role._is_heter_worker(), "worker": role._is_worker(), "server": role._is_server(),
    "id": role._role_id(), "mode": role._is_heter_parameter_server_mode,
    "stage": role._stage_id, "stages": role._stage_num, "counts": list(role._stage_trainers),
    "workers": role._heter_trainer_endpoints, "next": role._next_heter_trainer_endpoints,
    "previous": role._previous_heter_trainer_endpoints, "device": role._heter_trainer_device_type,
}))
"""
TRAINERS = [f"fit-trainer-{index}.fit-trainer.ads.svc:6174" for index in range(2)]
WORKERS = [f"fit-heter-{index}.fit-heter.ads.svc:6174" for index in range(3)]


def processes(folder: Path) -> dict[str, dict[str, str]]:
    """Return the variables of every replica by its name."""
    path = folder / "paddlejob.yaml"
    path.write_text(SPEC, encoding="utf-8")
    (loaded,), _ = load(str(path), Files(), Choices(target="local"))
    assert loaded.is_valid, loaded.diagnostics
    manifests = build(loaded, Templates()).manifests
    return {
        process["metadata"]["name"]: dict(resolve(process, "ads", {}).values)
        for process in manifests
        if process["kind"] == "Process"
    }


def read(variables: dict[str, str]) -> Any:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", READS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_fleet_reads_two_stages(tmp_path: Path) -> None:
    by_name = processes(tmp_path)
    trainer, worker = read(by_name["fit-trainer-1"]), read(by_name["fit-heter-2"])
    for one, kind, stage in ((trainer, "worker", 1), (worker, "heter", 2)):
        assert one["mode"]
        assert one[kind]
        assert (one["stage"], one["stages"], one["counts"]) == (stage, 2, [2, 3])
        assert one["workers"] == WORKERS
    assert (trainer["id"], trainer["next"], trainer["previous"]) == (1, WORKERS, [])
    # Workers are numbered after the trainers.
    assert (worker["id"], worker["next"], worker["previous"]) == (4, [], TRAINERS)
    assert worker["device"] == "gpu"
    server = read(by_name["fit-pserver-0"])
    assert server["server"]
    assert server["mode"]
    assert "TRAINING_ROLE" not in by_name["fit-evaluator-0"]
