"""What a user reads who does not know the command line yet."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

import pytest
from invoked import invoked

from paddlespec.cli.shared.exits import run

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a, annotations: {owner: Jürgen 训练}}
spec: {mode: collective, image: x:1, command: python train.py, trainers: {replicas: 1}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("validte", 'unknown command "validte"\n  hint: did you mean "paddlespec validate"?'),
        ("submit", 'unknown command "submit"\n  hint: paddlespec apply'),
        ("describe", 'unknown command "describe"\n  hint: paddlespec status NAME'),
        ("ps", 'unknown command "ps"\n  hint: paddlespec get jobs'),
        ("frob", 'unknown command "frob"\n  hint: list all commands with: paddlespec --help'),
        ("get jbs", 'unknown command "jbs"\n  hint: did you mean "paddlespec get jobs"?'),
        (
            "validate --targt x",
            'unknown option "--targt" for `paddlespec validate`\n  hint: did you mean "--target"?',
        ),
        (
            "-v get jobs",
            (
                'unknown option "-v" for `paddlespec`\n'
                "  hint: options follow the command: paddlespec COMMAND -v"
            ),
        ),
        (
            "logs fit -n ads",
            (
                'invalid value for --lines: "ads" is not a valid integer\n'
                "  hint: -n is --lines here; write --namespace for a namespace"
            ),
        ),
        (
            "registry add Bad_Name --server x --username u --helper none",
            (
                'invalid name "Bad_Name" for a pull secret\n'
                "  hint: use lowercase letters, digits, - and ."
            ),
        ),
        (
            "explain a b",
            (
                'unexpected argument "b" for `paddlespec explain`\n'
                "  hint: show its options with: paddlespec explain --help"
            ),
        ),
        (
            "set",
            (
                "missing FILE for `paddlespec set`\n"
                "  hint: show its options with: paddlespec set --help"
            ),
        ),
        (
            "logs x --index y",
            (
                'invalid value for --index: "y" is not a valid integer\n'
                "  hint: show its options with: paddlespec logs --help"
            ),
        ),
        ("logs x --role Y", 'invalid value "Y" for --role: expected the name of a role'),
        ("get jobs --target", 'option "--target" requires an argument'),
    ],
)
def test_usage_errors_have_one_voice(
    capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    ended = invoked(capsys, *line.split())
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"paddlespec: {message}")


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("help", "--help"),
        ("help apply", "apply --help"),
        ("help get jobs", "get jobs --help"),
        ("get job --help", "get jobs --help"),
        ("get registry --help", "get registries --help"),
    ],
)
def test_other_ways_to_say_it(capsys: pytest.CaptureFixture[str], line: str, same: str) -> None:
    expected = invoked(capsys, *same.split())
    assert invoked(capsys, *line.split()) == expected
    assert expected.code == 0
    assert "Usage: paddlespec" in expected.out


def test_help_of_an_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    ended = invoked(capsys, "help", "aply")
    assert ended.code == 2
    assert 'did you mean "paddlespec apply"?' in ended.err


@pytest.mark.parametrize("command", ["validate", "render", "diff", "apply", "apply --dry-run none"])
def test_the_spec_of_this_folder_is_the_default(
    capsys: pytest.CaptureFixture[str], folder: Path, command: str
) -> None:
    ended = invoked(capsys, *command.split())
    assert ended.code == 2
    assert ended.err.startswith("paddlespec: no spec given, and no paddlejob.yaml in this folder\n")
    (folder / "below").mkdir()
    (folder / "below" / "paddlejob.yaml").write_text("not: a job", encoding="utf-8")
    (folder / "paddlejob.yaml").write_text(SPEC, encoding="utf-8")
    named = invoked(capsys, *command.split(), "paddlejob.yaml")
    assert invoked(capsys, *command.split()) == named
    assert named.code in (0, 3)  # there is no cluster


@pytest.mark.parametrize("command", ["apply", "diff"])
def test_without_a_cluster_the_way_on_is_a_rehearsal(
    capsys: pytest.CaptureFixture[str], folder: Path, command: str
) -> None:
    (folder / "paddlejob.yaml").write_text(SPEC, encoding="utf-8")
    ended = invoked(capsys, command)
    assert ended.code == 3
    assert "no cluster is configured" in ended.err
    assert "--target local" in ended.err


def test_init_ends_with_commands_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    ended = invoked(capsys, "init", "My Job")
    assert "paddlespec validate 'My Job/paddlejob.yaml'\n" in ended.err
    assert "apply 'My Job/paddlejob.yaml' --target local --wait complete" in ended.err


def test_a_missing_file_matters_more_than_what_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    ended = invoked(capsys, "set", "nosuch.yaml", "a=b")
    assert ended.code == 2
    assert ended.err.startswith("nosuch.yaml: error: cannot be read: no such file")


def test_an_unknown_target_names_those_that_exist(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "paddlejob.yaml").write_text(SPEC, encoding="utf-8")
    ended = invoked(capsys, "render", "--target", "locl")
    assert 'did you mean "local"? use one of jobset, kubernetes, local' in ended.err


def test_jobs_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    ended = invoked(capsys, "get", "job", "nosuch", "--target", "local")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == "paddlespec: no job nosuch in namespace default\n"


class Unseekable(io.BytesIO):
    """A file at first, and then a pipe, as in a process that was forked."""

    is_pipe = False

    def tell(self) -> int:
        if self.is_pipe:
            raise OSError(errno.ESPIPE, "Illegal seek")
        return super().tell()


@pytest.mark.parametrize("encoding", ["gbk", "iso-8859-1", "ascii", "utf-8"])
def test_the_bytes_of_a_result_do_not_depend_on_the_locale(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    written = Unseekable()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    written.is_pipe = True
    name = os.fsdecode(b"caf\xe9")

    def command() -> None:
        sys.stdout.write(f"Jürgen 训练 {name}\n")
        sys.stderr.write(f"Jürgen 训练 {name}\n")

    assert run(command) == 0
    sys.stdout.flush()
    assert written.getvalue() == "Jürgen 训练 caf\\udce9\n".encode()
