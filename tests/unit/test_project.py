"""Errors in the project file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from front import brief

from paddlespec.pipeline import Choices, load
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ads
datacenter: b
datacenters:
  - {name: a, namespace: first}
  - {name: a, namespace: second}
  - {name: b, namespace: third}
"""
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec: {mode: parallel, image: "python:3.11", command: python shard.py, \
trainers: {resources: {memory: 1Gi}}}
"""


def test_a_duplicate_name_is_reported_without_shifting_others(tmp_path: Path) -> None:
    (tmp_path / ".paddlespec.yaml").write_text(PROJECT)
    (tmp_path / "paddlejob.yaml").write_text(SPEC)
    ((loaded,), _) = load(str(tmp_path / "paddlejob.yaml"), Files(), Choices())
    assert brief(loaded.diagnostics) == ["7:12 duplicate-key"]
    assert loaded.job.metadata.namespace == "third"
