"""What a spec may read: its repository, or its own folder, and what the command line allows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from in_process import command

from paddlespec.boundary import boundary, is_foreign

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: parallel
  image: python:3.11-slim
  command: python train.py
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
"""
PROJECT = "apiVersion: paddlespec.io/v1\nkind: Project\nproject: team\n"
CANARY = "canary-of-the-machine"
OTHER_USER = 54321

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")
root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to change owners"
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository and, beside it, a folder with a secret."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "jobs").mkdir()
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "key.txt").write_text(CANARY)
    (tmp_path / "beside" / "key.yaml").write_text(CANARY)
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path


def spec(path: str, text: str = SPEC) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return path


def packaged(path: str) -> str:
    return spec("jobs/paddlejob.yaml", f"{SPEC}  package: {{path: {path}}}\n")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command(*arguments) != 0
    out, error = capsys.readouterr()
    assert CANARY not in out + error
    return out + error


class TestPackage:
    @posix
    @pytest.mark.parametrize(
        ("path", "link"),
        [
            pytest.param("../../beside", None, id="above"),
            pytest.param("code", ("jobs/code", "../../beside"), id="link"),
            pytest.param("../lib/code", ("lib", "../beside"), id="behind-a-link"),
            pytest.param("missing/../../../beside", None, id="missing"),
            pytest.param("../" * 30 + "dev/shm", None, id="devices"),
            pytest.param("one", ("jobs/one", "two"), id="link-to-a-link"),
        ],
    )
    def test_it_is_inside_the_repository(
        self,
        path: str,
        link: tuple[str, str] | None,
        machine: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        (machine / "beside" / "code").mkdir()
        os.symlink("../../beside", "jobs/two")
        if link:
            os.symlink(link[1], link[0])
        file = packaged(path)
        expected = f'{file}:9:19: error: folder "{path}" is outside the repository [outside]'
        assert expected in refused(capsys, "validate", file)
        assert expected in refused(capsys, "render", file)
        assert expected in refused(capsys, "render", "--preview", file)
        assert expected in refused(capsys, "render", file, "--out", "manifests")

    def test_it_is_in_the_folder_of_the_spec_without_a_repository(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (machine / "repo" / ".git").rmdir()
        (machine / "repo" / "code").mkdir()
        text = refused(capsys, "validate", packaged("../code"))
        assert 'folder "../code" is outside the folder of the spec' in text

    def test_another_folder_of_the_repository_is_inside(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec("code/train.py", "")
        assert command("validate", packaged("../code")) == 0

    def test_the_command_line_allows_a_folder(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = packaged("../../beside")
        assert command("validate", file, "--allow-outside", "../beside") == 0
        assert command("render", file, "--allow-outside", str(machine)) == 0
        capsys.readouterr()
        assert "[outside]" in refused(capsys, "validate", file, "--allow-outside", "../besides")

    @posix
    def test_ignore_files_are_inside_the_repository(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec("jobs/train.py", "")
        Path("../beside/key.txt").write_text(f"{CANARY}\\")
        os.symlink("../beside/key.txt", ".gitignore")
        text = refused(capsys, "validate", packaged("."))
        assert "../.gitignore is a link that leads out of the repository [package]" in text


@posix
class TestFiles:
    def test_a_spec_is_inside_the_repository(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.symlink("../../beside/key.yaml", "jobs/paddlejob.yaml")
        expected = "is a link that leads out of the repository [outside]"
        assert expected in refused(capsys, "validate", "jobs/paddlejob.yaml")
        assert expected in refused(capsys, "validate", "jobs")

    def test_so_is_the_folder_of_specs(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec("../beside/paddlejob.yaml")
        (machine / "beside" / ".git").mkdir()  # no way into another repository
        os.symlink("../beside", "more")
        expected = "is a link that leads out of the repository [outside]"
        assert expected in refused(capsys, "validate", "more")
        assert expected in refused(capsys, "validate", "more/paddlejob.yaml")
        assert command("validate", "more", "--allow-outside", "../beside") == 0

    def test_a_file_that_may_be_a_spec_is_not_opened(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec("jobs/paddlejob.yaml")
        spec("../beside/key.yaml", SPEC.replace("fit", "other"))
        os.symlink("../../beside/key.yaml", "jobs/other.yaml")
        assert command("validate", "jobs") == 0
        assert "1 spec is valid" in capsys.readouterr().err

    def test_an_overlay_is_inside_its_repository(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.symlink("../../beside/key.yaml", "jobs/overlay.yaml")
        file = spec("jobs/paddlejob.yaml")
        text = refused(capsys, "validate", file, "--overlay", "jobs/overlay.yaml")
        assert "jobs/overlay.yaml: error: is a link that leads out of the repository" in text

    def test_an_overlay_of_the_command_line_may_be_anywhere(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        overlay = spec("../beside/overlay.yaml", "apiVersion: paddlespec.io/v1\nkind: Overlay\n")
        assert command("validate", spec("jobs/paddlejob.yaml"), "--overlay", overlay) == 0

    def test_a_value_of_a_file_is_inside_its_repository(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.symlink("../../beside/key.txt", "jobs/run.sh")
        file = spec("jobs/paddlejob.yaml")
        text = refused(capsys, "render", file, "-u", "command=@jobs/run.sh")
        assert "jobs/run.sh is a link that leads out of the repository [outside]" in text
        assert command("validate", file, "-u", "command=@../beside/key.txt") == 0
        options = ("-u", "command=@jobs/run.sh", "--allow-outside", "../beside")
        assert command("validate", file, *options) == 0

    def test_a_project_file_is_inside_the_repository(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.symlink("../beside/key.yaml", ".paddlespec.yaml")
        text = refused(capsys, "validate", spec("jobs/paddlejob.yaml"))
        assert ".paddlespec.yaml: error: is a link that leads out of the repository" in text

    def test_a_link_inside_the_repository_is_followed(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec("shared/job.yaml")
        os.symlink("../shared/job.yaml", "jobs/paddlejob.yaml")
        assert command("validate", "jobs/paddlejob.yaml") == 0

    def test_a_file_descriptor_is_read(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with open(spec("../beside/any.yaml"), encoding="utf-8") as file:
            assert command("validate", f"/dev/fd/{file.fileno()}") == 0
            update = f"command=@/dev/fd/{file.fileno()}"
            assert command("validate", spec("jobs/paddlejob.yaml"), "-u", update) == 0


@posix
class TestOwner:
    @root
    def test_a_project_file_of_another_user_is_refused(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = spec("jobs/paddlejob.yaml")
        spec(".paddlespec.yaml", f"{PROJECT}defaults: {{env: {{PLANTED: '1'}}}}\n")
        assert command("render", file) == 0
        assert "PLANTED" in capsys.readouterr().out
        os.chown(".paddlespec.yaml", OTHER_USER, OTHER_USER)
        for options in (["render"], ["validate"], ["render", "--preview"]):
            text = refused(capsys, *options, file)
            assert ".paddlespec.yaml: error: belongs to another user [file]" in text
            assert "PLANTED" not in text
        assert command("validate", file, "--allow-outside", ".") == 0

    @root
    def test_no_job_is_looked_for_without_its_project_file(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = spec("jobs/paddlejob.yaml")
        os.chown(spec(".paddlespec.yaml", PROJECT), OTHER_USER, OTHER_USER)
        assert "belongs to another user" in refused(capsys, "kill", file, "--target", "local")

    @root
    def test_one_of_the_owner_of_the_specs_is_not(
        self, machine: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        # A container often runs as root in a checkout of the user.
        file = spec("jobs/paddlejob.yaml")
        spec(".paddlespec.yaml", PROJECT)
        for path in (".paddlespec.yaml", "jobs", file):
            os.chown(path, OTHER_USER, OTHER_USER)
        assert command("validate", file) == 0

    @root
    def test_the_user_behind_sudo_is_trusted(
        self, machine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec(".paddlespec.yaml", PROJECT)
        os.chown(".paddlespec.yaml", OTHER_USER, OTHER_USER)
        assert is_foreign(".paddlespec.yaml", "")
        monkeypatch.setenv("SUDO_UID", str(OTHER_USER))
        assert not is_foreign(".paddlespec.yaml", "")

    def test_without_users_there_are_no_owners(
        self, machine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr(os, "getuid")
        assert not is_foreign("/", "")


def test_the_innermost_repository_counts(machine: Path) -> None:
    Path("modules/one/.git").mkdir(parents=True)
    assert boundary("modules/one").top == os.path.realpath("modules/one")
    assert boundary("modules").top == os.path.realpath(".")
