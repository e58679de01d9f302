"""What commands write stays in the folder that was given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from in_process import command

from paddlespec.cli.shared import plan_file, write_files
from paddlespec.cli.shared.exits import Stop
from paddlespec.cli.shared.manifest_folder import MARK
from paddlespec.spec.source import MAX_BYTES

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: j}
spec: {mode: parallel, image: 'python:3.11', command: python train.py}
"""
MANIFEST = "m/j/job-j-trainer.yaml"
VICTIM = "precious\n"
CALL = plan_file.Call([], [], None, [], None, None, None, None, [])

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "beside").mkdir()
    (tmp_path / "victim.txt").write_text(VICTIM)
    monkeypatch.chdir(tmp_path / "repo")
    Path("paddlejob.yaml").write_text(SPEC)
    return tmp_path


def link(path: str, target: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    os.symlink(target, path)


def render(code: int, *options: str) -> None:
    assert command("render", "paddlejob.yaml", "--out", "m", *options) == code


class TestManifests:
    def test_they_are_written_with_the_permissions_of_the_user(self) -> None:
        before = os.umask(0o027)
        try:
            render(0)
        finally:
            os.umask(before)
        assert os.listdir("m/j") == ["job-j-trainer.yaml"]
        assert os.stat(MANIFEST).st_mode & 0o777 == 0o640

    def test_a_draft_of_a_known_name_is_not_used(self, here: Path) -> None:
        link(f"{MANIFEST}.part", "../../../victim.txt")
        render(0)
        assert (here / "victim.txt").read_text() == VICTIM
        assert not os.path.islink(MANIFEST)
        assert os.path.islink(f"{MANIFEST}.part")

    @pytest.mark.parametrize(
        ("path", "target"),
        [
            pytest.param("m/j", "../../beside", id="folder"),
            pytest.param(MANIFEST, "../../../victim.txt", id="file"),
            pytest.param(MANIFEST, "../../../beside/new.yaml", id="dangling"),
            pytest.param("m/j", "../inside", id="inside"),
        ],
    )
    @pytest.mark.parametrize("check", [(), ("--check",)], ids=["write", "check"])
    def test_no_link_is_followed(
        self,
        path: str,
        target: str,
        check: tuple[str, ...],
        here: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        os.mkdir("inside")
        (here / "victim.txt").write_text(MARK + VICTIM)
        link(path, target)
        render(3, *check)
        assert f"{path} is a link\n  hint: remove it" in capsys.readouterr().err
        assert (here / "victim.txt").read_text() == MARK + VICTIM
        assert os.listdir(here / "beside") == os.listdir("inside") == []

    def test_the_folder_itself_does_not_leave_the_repository(
        self, here: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        link("m", "../beside")
        render(3)
        assert "m is a link that leads out of the repository" in capsys.readouterr().err
        assert os.listdir(here / "beside") == []
        render(0, "--allow-outside", "../beside")
        assert os.listdir(here / "beside") == ["j"]

    def test_a_stale_link_is_kept(self, here: Path) -> None:
        render(0)
        (here / "victim.txt").write_text(MARK)
        link("m/old.yaml", "../../victim.txt")
        render(0)
        assert os.path.islink("m/old.yaml")

    def test_a_large_file_is_not_ours(self, capsys: pytest.CaptureFixture[str]) -> None:
        render(0)
        with open(MANIFEST, "a", encoding="utf-8") as file:
            file.truncate(20 << 30)
        render(3)
        assert "was not written by paddlespec" in capsys.readouterr().err


class TestPlans:
    def test_a_draft_of_a_known_name_is_not_used(self, here: Path) -> None:
        link(f"plan.json.{os.getpid()}", "../victim.txt")
        plan_file.write("plan.json", CALL, [], [])
        assert (here / "victim.txt").read_text() == VICTIM
        assert plan_file.read("plan.json").jobs == ()

    def test_no_link_is_followed(self, here: Path) -> None:
        link("plan.json", "../victim.txt")
        with pytest.raises(Stop, match=r"plan\.json is a link"):
            plan_file.write("plan.json", CALL, [], [])
        link("plans", "../beside")
        with pytest.raises(Stop, match="plans is a link that leads out of the repository"):
            plan_file.write("plans/plan.json", CALL, [], [])
        plan_file.write("plans/plan.json", CALL, [], [], ("../beside",))
        assert (here / "victim.txt").read_text() == VICTIM

    def test_a_large_plan_is_not_read(self) -> None:
        with open("plan.json", "w", encoding="utf-8") as file:
            file.truncate(20 << 30)
        with pytest.raises(Stop, match=r"plan plan\.json is larger than 4 MiB"):
            plan_file.read("plan.json")

    def test_a_large_plan_is_not_written(self) -> None:
        call = CALL._replace(paths=["a" * MAX_BYTES])
        with pytest.raises(Stop, match="the plan is larger than 4 MiB"):
            plan_file.write("plan.json", call, [], [])
        assert not os.path.exists("plan.json")


def test_a_failed_write_leaves_no_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_files.replace("new.yaml", b"text")
    assert sorted(os.listdir()) == [".git", "paddlejob.yaml"]


def test_a_folder_of_manifests_is_read_with_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkdir("before")
    with open("before/large.yaml", "w", encoding="utf-8") as file:
        file.truncate(20 << 30)
    assert command("diff", "paddlejob.yaml", "--against", "before") == 2
    assert "before/large.yaml: error: larger than 4 MiB [too-large]" in capsys.readouterr().err


def test_a_folder_of_manifests_reads_nothing_outside(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "victim.txt").write_text("- {canary")
    link("before/any.yaml", "../../victim.txt")
    for arguments, code in ((), 2), (("--allow-outside", str(here)), 2):
        assert command("diff", "paddlejob.yaml", "--against", "before", *arguments) == code
        error = capsys.readouterr().err
        assert ("[outside]" in error) == (not arguments)
        assert "canary" not in error
