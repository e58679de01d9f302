"""Job files of other tools: one diagnostic says what a file is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from front import JOB
from invoked import invoked

from paddlespec.pipeline import Choices, load
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "apiVersion: kubeflow.org/v1\nkind: PaddleJob\nspec: {paddleReplicaSpecs: {}}": (
        "2:7: error: PaddleJob of the Kubeflow Training Operator (kubeflow.org/v1)"
    ),
    "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nspec: {worker: {}}": (
        "2:7: error: PaddleJob of the Paddle Operator (batch.paddlepaddle.org/v1)"
    ),
    "apiVersion: batch.paddlepaddle.org/v1beta1\nkind: PaddleJob": (
        "2:7: error: PaddleJob of the Paddle Operator (batch.paddlepaddle.org/v1beta1)"
    ),
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec: {tasks: []}": (
        "2:7: error: Job of Volcano (batch.volcano.sh/v1alpha1)"
    ),
    "apiVersion: v1\nkind: Service\n---\napiVersion: batch/v1\nkind: Job": (
        "5:7: error: Job of Kubernetes (batch/v1)"
    ),
    "protocolVersion: 2\nname: keras\ntype: job\ntaskRoles: {train: {}}": (
        "1:18: error: job of OpenPAI (protocol 2)"
    ),
    '{"jobName": "j", "image": "x", "taskRoles": [{"name": "a"}]}': (
        "1:13: error: job of OpenPAI (version 1)"
    ),
}


@pytest.mark.parametrize(("text", "expected"), FILES.items(), ids=FILES.values())
def test_a_file_of_another_tool_is_one_finding(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "paddlejob.yaml"
    file.write_text(text, encoding="utf-8")
    jobs, (fault,) = load(str(file), Files(), Choices())
    assert jobs == []
    assert str(fault) == f"{file}:{expected}, not a spec [foreign-file]"
    assert "paddlespec init --from-command" in str(fault.hint)


def test_an_overlay_of_another_tool_is_one_finding(tmp_path: Path) -> None:
    file, overlay = tmp_path / "paddlejob.yaml", tmp_path / "other.yaml"
    file.write_text(JOB, encoding="utf-8")
    overlay.write_text("apiVersion: batch/v1\nkind: Job\nspec: {template: {}}\n", "utf-8")
    (job,), _ = load(str(file), Files(), Choices(overlays=(str(overlay),)))
    codes = [fault.code for fault in job.diagnostics if fault.severity.value == "error"]
    assert codes == ["foreign-file"]


def test_a_spec_beside_it_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "paddlejob.yaml"
    file.write_text(f"{JOB}---\napiVersion: batch/v1\nkind: Job\n", encoding="utf-8")
    jobs, faults = load(str(file), Files(), Choices())
    assert len(jobs) == len(faults) == 1


@pytest.mark.parametrize("text", ["apiVersion: batch\nkind: Job", "kind: PaddleJob", "- a", "{}"])
def test_other_files_are_checked_as_specs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "paddlejob.yaml"
    file.write_text(text, encoding="utf-8")
    jobs, faults = load(str(file), Files(), Choices())
    assert (len(jobs), faults) == (1, [])


def test_every_command_says_what_the_file_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "paddlejob.yaml"
    text = "apiVersion: batch/v1\nkind: Job\n"
    file.write_text(text, encoding="utf-8")
    for command in ("render", "apply", "status", "kill", "diff"):
        ended = invoked(capsys, command, str(file))
        assert (ended.code, "Job of Kubernetes" in ended.err) == (2, True), command
    ended = invoked(capsys, "set", str(file), "image=x:1")
    assert (ended.code, "Job of Kubernetes" in ended.err) == (2, True)
    assert file.read_text(encoding="utf-8") == text
