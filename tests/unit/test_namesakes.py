"""Two jobs that an apply would refuse are found by `validate`, at both places."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING

import pytest

from paddlespec.cli.shared import validate_specs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOB = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {METADATA}
spec: {mode: parallel, image: "python:3.11", command: python a.py, target: TARGET, \
trainers: {resources: {memory: 1Gi}}}
"""
PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ranking
datacenter: dc1
datacenters: [{name: dc1, namespace: ads}]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gc.enable()  # a command that is about to end goes without


def job(metadata: str, target: str = "kubernetes") -> str:
    return JOB.replace("METADATA", metadata).replace("TARGET", target)


def found(capsys: pytest.CaptureFixture[str], *paths: str) -> list[tuple[str, int, str]]:
    code = validate_specs.validate(paths, output="json")
    listed = json.loads(capsys.readouterr().out)["diagnostics"]
    assert code == (1 if listed else 0)
    assert {each["code"] for each in listed} <= {"duplicate-job"}
    return [(each["file"], each["line"], each["message"]) for each in listed]


def test_both_places_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text(job("name: fit"))
    (here / "b.yaml").write_text(job("name: other") + "---\n" + job("name: fit"))
    assert found(capsys, "a.yaml", "b.yaml") == [
        ("a.yaml", 3, 'another job is called "fit" too: b.yaml:8:18'),
        ("b.yaml", 8, 'another job is called "fit" too: a.yaml:3:18'),
    ]
    assert found(capsys, "a.yaml") == []


def test_a_file_that_is_given_twice_is_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "paddlejob.yaml").write_text(job("name: fit"))
    assert found(capsys, ".", "paddlejob.yaml") == []


def test_each_of_three_is_told_of_another(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "abc":
        (here / f"{name}.yaml").write_text(job("name: fit"))
    told = [message[-11:] for _, _, message in found(capsys, "a.yaml", "b.yaml", "c.yaml")]
    assert told == ["b.yaml:3:18", "a.yaml:3:18", "a.yaml:3:18"]


@pytest.mark.parametrize(
    "other",
    [
        job("name: fit, namespace: two"),
        job("name: fit", "local"),
        job("name: fit2"),
        job("labels: {}"),
    ],
    ids=["namespace", "this-machine", "name", "no-name"],
)
def test_what_tells_jobs_apart(here: Path, capsys: pytest.CaptureFixture[str], other: str) -> None:
    (here / "a.yaml").write_text(job("name: fit"))
    (here / "b.yaml").write_text(other)
    validate_specs.validate(["a.yaml", "b.yaml"], output="text")
    assert "duplicate-job" not in capsys.readouterr().out


def test_the_namespace_of_a_datacenter_counts(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        (here / name).mkdir()
        (here / name / ".paddlespec.yaml").write_text(PROJECT)
    (here / "a" / "paddlejob.yaml").write_text(job("name: fit, namespace: ads"))
    (here / "b" / "paddlejob.yaml").write_text(job("name: fit"))
    assert len(found(capsys, "a", "b")) == 2
    (here / "b" / ".paddlespec.yaml").write_text(PROJECT.replace("ads", "maps"))
    assert found(capsys, "a", "b") == []


def test_many_files_give_the_same(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"paddlejob-{index:03}.yaml" for index in range(230)]
    for index, name in enumerate(names):
        (here / name).write_text(job(f"name: job-{index % 229}"))
    assert [file for file, _, _ in found(capsys, *names)] == [names[0], names[-1]]
