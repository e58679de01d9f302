"""Details of rendered objects on which Kubernetes depends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from targets import container, workload

if TYPE_CHECKING:
    from pathlib import Path

PARALLEL = "  mode: parallel\n  command: python shard.py\n  trainers: {replicas: 3}\n"


def test_replicas_are_retried_individually(tmp_path: Path) -> None:
    # With a backoffLimit of 0, a Job fails with its first pod, whatever the limit per index is.
    spec = workload(tmp_path, PARALLEL + "  policy: {retries: 2}\n")["spec"]
    assert spec["backoffLimitPerIndex"] == 2
    assert "backoffLimit" not in spec


def test_without_retries_the_first_failure_fails_the_job(tmp_path: Path) -> None:
    spec = workload(tmp_path, PARALLEL)["spec"]
    assert spec["backoffLimit"] == 0
    assert "backoffLimitPerIndex" not in spec


def test_variables_are_unique_and_follow_the_variables_they_use(tmp_path: Path) -> None:
    env = container(
        tmp_path,
        PARALLEL
        + "  allowManagedEnv: [IDX, NS, PADDLESPEC_COUNT]\n"
        + '  env: {BEFORE: "1", PADDLESPEC_COUNT: "$(BEFORE)", IDX: "9", NS: other}\n',
    )["env"]
    names = [variable["name"] for variable in env]
    assert len(set(names)) == len(names)
    assert {"name": "IDX", "value": "9"} in env
    assert names.index("IDX") < names.index("PADDLESPEC_INDEX")
    assert names.index("BEFORE") < names.index("PADDLESPEC_COUNT")


LEGACY = """\
  mode: legacy
  trainers: {replicas: 2}
  pservers: {replicas: 1}
"""


def test_a_legacy_pserver_listens_on_every_address(tmp_path: Path) -> None:
    # Paddle defaults to two network devices that a pod does not have, and would abort.
    spec = LEGACY + "  command: python train.py\n"
    script = container(tmp_path, spec, "a-pserver")["command"][-1]
    assert '--nics="$PADDLE_INIT_NICS"' in script


def test_a_v1_trainer_finds_its_data_in_train_list(tmp_path: Path) -> None:
    spec = LEGACY + "  legacy: {topology: conf.py, trainList: all.list}\n"
    assert "> /train.list ||" in container(tmp_path, spec)["command"][-1]
