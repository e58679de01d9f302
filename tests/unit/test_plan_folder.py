"""The paths of a plan, in another folder than it was made in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.plan_folder import here, recorded

if TYPE_CHECKING:
    from pathlib import Path


def made(folder: Path, plan: Path, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The invocation of a plan that is made in *folder*."""
    (folder / "jobs").mkdir(parents=True)
    (folder / "job.yaml").touch()
    patch.chdir(folder)
    call = {"paths": ["job.yaml", "-"], "overlay": ["jobs"], "templates": None}
    return {**call, **recorded(str(plan))}


def test_in_the_same_folder_paths_stay_as_they_were_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = made(tmp_path / "a", tmp_path / "a" / "plan.json", monkeypatch)
    assert (call["folder"], call["repositoryFolder"]) == (".", None)
    assert here("plan.json", call) == call


def test_paths_are_found_relative_to_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = made(tmp_path / "a", tmp_path / "out" / "plan.json", monkeypatch)
    monkeypatch.chdir(tmp_path)
    found = here("out/plan.json", call)
    assert (found["paths"], found["overlay"]) == (["a/job.yaml", "-"], ["a/jobs"])


def test_paths_are_found_in_another_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
    call = made(tmp_path / "one" / "team", tmp_path / "plan.json", monkeypatch)
    assert call["repositoryFolder"] == "team"
    (tmp_path / "two" / "team" / "jobs").mkdir(parents=True)
    (tmp_path / "two" / "team" / "job.yaml").touch()
    monkeypatch.chdir(tmp_path / "two")
    assert here(str(tmp_path / "plan.json"), call)["paths"] == ["team/job.yaml", "-"]


def test_plans_of_earlier_versions_are_relative_to_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").touch()
    assert here("plan.json", {"paths": ["job.yaml"]})["paths"] == ["job.yaml"]


def test_a_plan_that_was_tampered_with_is_refused() -> None:
    for call in ({"paths": [1]}, {"paths": ["job.yaml"], "templates": 7}):
        with pytest.raises(Stop, match="is not a plan"):
            here("plan.json", call)


def test_files_that_are_nowhere_are_named_with_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = made(tmp_path / "a", tmp_path / "a" / "plan.json", monkeypatch)
    (tmp_path / "a" / "job.yaml").unlink()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Stop) as error:
        here("a/plan.json", call)
    assert error.value.code == Exit.usage
    assert error.value.message == (
        f"a/plan.json is for job.yaml, which does not exist in {tmp_path}/a or {tmp_path}"
    )
