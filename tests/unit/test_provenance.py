"""The provenance of a run, from CI systems and git."""

from __future__ import annotations

import os
import pwd
import subprocess
from typing import TYPE_CHECKING

import pytest

from paddlespec.git.provenance import provenance, who
from paddlespec.runs.history import Provenance

if TYPE_CHECKING:
    from pathlib import Path

SYSTEMS = {
    "github": (
        {
            "CI": "true",
            "GITHUB_ACTOR": "alice",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "ads/ranking",
            "GITHUB_RUN_ID": "42",
        },
        "https://github.com/ads/ranking/actions/runs/42",
    ),
    "gitlab": (
        {
            "GITLAB_USER_LOGIN": "alice",
            "CI_COMMIT_AUTHOR": "Bob <bob@example.org>",
            "CI_JOB_URL": "https://gitlab.test/ads/-/jobs/7",
            "CI_PIPELINE_URL": "https://gitlab.test/ads/-/pipelines/3",
        },
        "https://gitlab.test/ads/-/jobs/7",
    ),
    "jenkins": (
        {"BUILD_USER_ID": "alice", "BUILD_URL": "https://jenkins.test/job/ads/9/"},
        "https://jenkins.test/job/ads/9/",
    ),
    "buildkite": (
        {"BUILDKITE_BUILD_CREATOR": "alice", "BUILDKITE_BUILD_URL": "https://buildkite.test/ads/1"},
        "https://buildkite.test/ads/1",
    ),
    "circleci": (
        {"CIRCLE_USERNAME": "alice", "CIRCLE_BUILD_URL": "https://circleci.test/ads/2"},
        "https://circleci.test/ads/2",
    ),
    "azure": (
        {
            "BUILD_REQUESTEDFOR": "alice",
            "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI": "https://dev.azure.test/ads/",
            "SYSTEM_TEAMPROJECT": "ranking",
            "BUILD_BUILDID": "5",
        },
        "https://dev.azure.test/ads/ranking/_build/results?buildId=5",
    ),
    "drone": (
        {"DRONE_COMMIT_AUTHOR": "alice", "DRONE_BUILD_LINK": "https://drone.test/ads/8"},
        "https://drone.test/ads/8",
    ),
    "woodpecker": (
        {"CI_COMMIT_AUTHOR": "alice", "CI_PIPELINE_URL": "https://ci.test/ads/8"},
        "https://ci.test/ads/8",
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_ci_system_provides_user_and_url(system: str, tmp_path: Path) -> None:
    variables, page = SYSTEMS[system]
    result = provenance(str(tmp_path / "job.yaml"), {**variables, "USER": "runner"})
    assert (result.who, result.ci) == ("alice", page)


def test_without_ci_the_account_is_the_user(tmp_path: Path) -> None:
    result = provenance(str(tmp_path / "job.yaml"), {"USER": "alice"})
    assert result == Provenance("alice")
    assert who({"LOGNAME": "bob"}) == "bob"
    assert who({"GITHUB_ACTOR": "", "USER": "carol"}) == "carol"
    assert who({}) == pwd.getpwuid(os.getuid()).pw_name


def test_credentials_in_a_url_are_removed(tmp_path: Path) -> None:
    variables = {"BUILD_URL": "https://me:canary@jenkins.test/job/9/?x=a@b"}
    result = provenance(str(tmp_path / "job.yaml"), variables)
    assert result.ci == "https://jenkins.test/job/9/?x=a@b"


def git(folder: Path, *arguments: str) -> str:
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    done = subprocess.run(
        ["git", *me, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", "https://me:canary@git.test/ads.git")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "paddlejob.yaml").write_text("kind: PaddleJob\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "all")
    return tmp_path


def commit_of(folder: Path) -> tuple[str | None, bool]:
    from paddlespec.git.repository import head

    head.cache_clear()
    result = provenance(str(folder / "paddlejob.yaml"), {})
    assert "canary" not in repr(result)
    return result.commit, result.dirty


def test_the_commit_is_the_one_checked_out(clone: Path) -> None:
    assert commit_of(clone / "a") == (git(clone, "rev-parse", "HEAD"), False)


@pytest.mark.parametrize("staged", [False, True], ids=["written", "staged"])
def test_uncommitted_changes_are_dirty(clone: Path, staged: bool) -> None:
    (clone / "a" / "paddlejob.yaml").write_text("kind: Other\n", encoding="utf-8")
    if staged:
        git(clone, "add", ".")
    assert commit_of(clone / "a") == (git(clone, "rev-parse", "HEAD"), True)
    # Another job of the same repository does not count.
    assert commit_of(clone / "b") == (git(clone, "rev-parse", "HEAD"), False)


def test_a_new_file_is_dirty_and_an_ignored_one_is_not(clone: Path) -> None:
    (clone / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (clone / "a" / "train.log").write_text("", encoding="utf-8")
    assert not commit_of(clone / "a")[1]
    (clone / "a" / "train.py").write_text("", encoding="utf-8")
    assert commit_of(clone / "a")[1]


def test_without_a_repository_or_a_commit_it_is_unknown(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == (None, False)
    git(tmp_path, "init", "--quiet")
    assert commit_of(tmp_path) == (None, False)


def test_the_spec_is_named_relative_to_its_repository(clone: Path) -> None:
    assert provenance(str(clone / "a" / "paddlejob.yaml"), {}).file == "a/paddlejob.yaml"


def test_a_spec_outside_a_repository_keeps_its_path(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("kind: PaddleJob\n", encoding="utf-8")
    assert provenance(str(path), {}).file == str(path)
    assert provenance("-", {}).file is None


def test_an_account_that_the_machine_does_not_know_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert who({}) == "unknown"
