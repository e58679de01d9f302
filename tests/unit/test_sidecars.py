"""Containers beside the command of a replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from targets import HEAD, manifests, workload

from paddlespec.backends.cluster.observe.replicas import worker
from paddlespec.backends.cluster.streams.job_logs import _container
from paddlespec.backends.cluster.why import container, ended
from paddlespec.capacity.demand import demand
from paddlespec.checks.secrets import has_sensitive
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.report.mask import masked, secrets_of
from paddlespec.spec.files import Files
from paddlespec.targets.shell import scratch
from paddlespec.targets.shell import workload as source_of

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
  mode: ps
  command: python train.py
  env: {SECRET_OF_THE_COMMAND: "1"}
  package: {path: .}
  volumes: [{name: output, mountPath: /output, claim: c, subPath: jobs}]
  output: /output/job
  sidecars: [{name: exporter, image: "team/exporter:1", args: [--all], env: {PORT: 9100}}]
  trainers:
    resources: {cpu: 2, memory: 1Gi}
    sidecars:
      - name: board
        command: board --logs /output
        resources: {cpu: 1, memory: 1Gi}
        volumeMounts: [{name: output, readOnly: true}]
  pservers: {}
"""


def rendered(folder: Path, name: str = "a-trainer") -> dict[str, Any]:
    (folder / "train.py").write_text("", encoding="utf-8")
    spec: dict[str, Any] = workload(folder, SPEC, name)["spec"]["template"]["spec"]
    return spec


def test_sidecars_start_after_the_checks_and_before_the_wait(tmp_path: Path) -> None:
    steps = rendered(tmp_path)["initContainers"]
    names = ["unpack", "output", "exporter", "board", "wait-for-pservers"]
    assert [step["name"] for step in steps] == names
    always = [step["name"] for step in steps if step.get("restartPolicy") == "Always"]
    assert always == ["exporter", "board"]
    names = [step["name"] for step in rendered(tmp_path, "a-pserver")["initContainers"]]
    assert names == ["unpack", "exporter"]
    assert [one["name"] for one in rendered(tmp_path)["containers"]] == ["paddle"]


def test_a_sidecar_runs_what_it_says(tmp_path: Path) -> None:
    exporter, board = rendered(tmp_path)["initContainers"][2:4]
    assert (exporter["image"], exporter["args"]) == ("team/exporter:1", ["--all"])
    assert "command" not in exporter
    assert "resources" not in exporter
    assert (board["image"], board["command"]) == (
        "team/train:1",
        ["sh", "-c", "board --logs /output"],
    )
    amounts = {"cpu": "1", "memory": "1Gi"}
    assert board["resources"] == {"requests": amounts, "limits": amounts}
    mount = {"name": "output", "mountPath": "/output", "subPath": "jobs", "readOnly": True}
    assert board["volumeMounts"] == [mount]


def test_a_sidecar_knows_its_replica_but_not_the_variables_of_paddle(tmp_path: Path) -> None:
    exporter = rendered(tmp_path)["initContainers"][2]
    names = [entry["name"] for entry in exporter["env"]]
    assert names[:2] == ["NS", "IDX"]
    assert {"PADDLESPEC_INDEX", "PADDLESPEC_ROLE", "PADDLESPEC_OUTPUT", "PORT"} <= set(names)
    assert not {"PADDLE_PORT", "POD_IP", "SECRET_OF_THE_COMMAND"} & set(names)


def test_sidecars_count_towards_what_a_replica_requests(tmp_path: Path) -> None:
    assert demand(rendered(tmp_path))["cpu"] == 3


def test_a_scratch_container_has_no_sidecars(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    source = source_of(manifests(tmp_path, SPEC), "trainers")
    assert source is not None
    job, *_ = scratch(source, [], "a", "b", 60)
    steps = job["spec"]["template"]["spec"]["initContainers"]
    assert [step["name"] for step in steps] == ["unpack"]


def terminated(name: str, code: int, second: int) -> dict[str, Any]:
    ends = {"exitCode": code, "finishedAt": f"2026-01-01T00:00:0{second}Z"}
    return {"name": name, "restartCount": 7, "state": {"terminated": ends}}


def ended_pod(phase: str, code: int) -> dict[str, Any]:
    return {
        "metadata": {"name": "a-trainer-0-x", "labels": {"paddlespec.io/role": "trainers"}},
        "spec": {
            "initContainers": [{"name": "board", "restartPolicy": "Always"}],
            "containers": [{"name": "paddle"}],
        },
        "status": {
            "phase": phase,
            "initContainerStatuses": [terminated("board", 137, 1)],
            "containerStatuses": [{**terminated("paddle", code, 2), "restartCount": 0}],
        },
    }


def test_a_replica_ends_as_its_command_and_not_as_its_sidecars() -> None:
    succeeded, failed = ended_pod("Succeeded", 0), ended_pod("Failed", 3)
    assert (worker(succeeded).code, worker(failed).code) == (0, 3)
    assert worker(succeeded).restarts == 0
    assert ended.in_order([succeeded]) == []
    assert ended.ending(failed) == "exit code 3"
    assert ended.container(failed) == "paddle"


def test_the_log_is_that_of_the_command_unless_a_container_is_chosen() -> None:
    failed = ended_pod("Failed", 3)
    assert _container(failed, None, previous=False) == "paddle"
    assert _container(failed, "board", previous=False) == "board"
    assert _container(failed, "other", previous=False) is None


def test_a_sidecar_that_keeps_crashing_is_named() -> None:
    broken = ended_pod("Pending", 0)
    waiting = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    broken["status"]["initContainerStatuses"] = [{"name": "board", **waiting}]
    assert next(container.stuck(broken)) == "sidecar board keeps crashing (CrashLoopBackOff)"


def test_secrets_of_sidecars_are_hidden(tmp_path: Path) -> None:
    file = tmp_path / "paddlejob.yaml"
    secret = "env: {A: {value: canary, sensitive: true}}"
    spec = f"  mode: parallel\n  command: x\n  sidecars: [{{name: e, {secret}}}]\n"
    file.write_text(HEAD + spec, encoding="utf-8")
    (loaded,), _ = load(str(file), Files(), Choices())
    assert has_sensitive(loaded.job)
    shown = masked(build(loaded, Templates()).manifests, loaded.job)
    assert "canary" not in str(shown)
    assert secrets_of(loaded).hide("canary") == "***"


def test_sidecars_keep_to_the_level_restricted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    spec = SPEC + "  pod: {security: restricted}\n"
    pod = workload(tmp_path, spec)["spec"]["template"]["spec"]
    drops = [step["securityContext"]["capabilities"]["drop"] for step in pod["initContainers"]]
    assert drops == [["ALL"]] * 5
