"""A new job is valid as it is written, and nothing that was there is lost."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paddlespec.cli import write
from paddlespec.cli.exits import Stop
from paddlespec.diagnostic import InvalidSpec
from paddlespec.files import Files
from paddlespec.pipeline import Choices, load
from paddlespec.record import job_of
from paddlespec.resources import bundled
from paddlespec.scaffold import MODES, job_name, launched

if TYPE_CHECKING:
    from paddlespec.model import Spec


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def spec_of(path: str = "paddlejob.yaml", profile: str | None = None) -> Spec:
    """The spec in a file, which must give no finding whatsoever."""
    [job], found = load(path, Files(), Choices(profile=profile))
    assert [str(each) for each in [*found, *job.diagnostics]] == []
    return job_of(job.document.data).spec


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_a_spec_without_findings(mode: str) -> None:
    write.write_job("My Job_1", mode)
    for profile in (None, "smoke"):
        assert spec_of("My Job_1/paddlejob.yaml", profile).mode == mode
    text = Path("My Job_1/paddlejob.yaml").read_text()
    assert "name: my-job-1\n" in text
    assert text.startswith("# yaml-language-server: $schema=https://paddlespec.io/schemas/")
    assert sorted(os.listdir("My Job_1")) == [".paddleignore", "paddlejob.yaml", "train.py"]


@pytest.mark.parametrize("mode", MODES)
def test_a_spec_for_ones_own_command_has_no_findings_either(mode: str) -> None:
    Path("main.py").touch()
    write.write_job(".", mode, "job", command=["python", "main.py", "--name", "a b"])
    launcher = "-m paddle.distributed.launch " if mode == "collective" else ""
    assert spec_of().command == f"python {launcher}main.py --name 'a b'"
    assert spec_of(profile="smoke").trainers.replicas == 1
    assert sorted(os.listdir()) == [".paddleignore", "main.py", "paddlejob.yaml"]


@pytest.mark.parametrize("mode", MODES)
def test_the_example_program_compiles(mode: str) -> None:
    py_compile.compile(bundled("templates", "init", mode, "train.py"), "out.pyc", doraise=True)


def test_the_parallel_example_does_all_items_once() -> None:
    write.write_job(".", "parallel")
    done: list[str] = []
    for index in range(3):
        env = {**os.environ, "PADDLESPEC_INDEX": str(index), "PADDLESPEC_COUNT": "3"}
        command = [sys.executable, "train.py", "--items", "10"]
        output = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
        done += [line for line in output.splitlines() if line.startswith("item ")]
    assert sorted(done) == [f"item {number}" for number in range(10)]


def test_the_collective_example_learns() -> None:
    pytest.importorskip("paddle")
    write.write_job(".", "collective")
    command = [sys.executable, "-W", "ignore", "train.py", "--epochs", "3"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert float(output.split()[-1]) < 0.01


def test_name_and_image_are_the_users() -> None:
    write.write_job(".", "ps", "ctr", "team/ctr:1.2")
    assert spec_of().image == "team/ctr:1.2"
    lines = Path("paddlejob.yaml").read_text().splitlines()
    assert "  name: ctr" in lines
    assert [each for each in lines if each.startswith("  image: team/ctr:1.2   #")]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/jobs/fit_a.Line", "fit-a-line"),
        ("/", "job"),
        ("/jobs/--", "job"),
        ("/2024 runs", "job-2024-runs"),
        ("/Ärger", "rger"),
        ("/" + "x" * 39 + "-yz", "x" * 39),
    ],
)
def test_a_job_is_called_like_its_folder(folder: str, name: str) -> None:
    assert job_name(folder) == name


def test_a_name_that_cannot_be_is_refused_and_nothing_written() -> None:
    with pytest.raises(InvalidSpec, match=r"--name Fit_A: error: metadata\.name"):
        write.write_job("new", "ps", "Fit_A")
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python train.py -x", "python -m paddle.distributed.launch train.py -x"),
        ("python3.10 -u a.py", "python3.10 -m paddle.distributed.launch a.py"),
        ("/opt/bin/python a.py", "/opt/bin/python -m paddle.distributed.launch a.py"),
        ("python -m demo.train", "python -m paddle.distributed.launch python -m demo.train"),
        ("python -W ignore a.py", "python -m paddle.distributed.launch python -W ignore a.py"),
        ("python -m paddle.distributed.launch a.py", "python -m paddle.distributed.launch a.py"),
        ("fleetrun a.py", "fleetrun a.py"),
        ("bash run.sh", "bash run.sh"),
        ("", ""),
    ],
)
def test_a_python_command_gets_the_launcher(command: str, expected: str) -> None:
    assert launched(command.split()) == expected.split()


def test_what_is_there_is_not_overwritten_and_nothing_is_half_written() -> None:
    Path("train.py").write_text("mine")
    with pytest.raises(Stop, match=r"already there: train\.py"):
        write.write_job(".", "ps")
    assert os.listdir() == ["train.py"]
    write.write_job(".", "ps", force=True)
    assert Path("train.py").read_text() != "mine"


def test_a_list_of_what_stays_behind_is_kept() -> None:
    Path(".paddleignore").write_text("mine")
    write.write_job(".", "ps", force=True)
    assert Path(".paddleignore").read_text() == "mine"


def paddlespec(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys, typer\n"
        "from paddlespec.cli import exits, write\n"
        "app = typer.Typer()\n"
        "app.command()(write.init)\n"
        "app.command('set')(write.set_values)\n"
        "sys.exit(exits.run(lambda: app(standalone_mode=False)))\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_what_follows_two_dashes_is_the_command() -> None:
    Path("new").mkdir()
    Path("new/a.py").touch()
    done = paddlespec("init", "new", "--from-command", "--", "python", "a.py", "--epochs", "3")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        0,
        "next: paddlespec validate new/paddlejob.yaml",
    )
    expected = "python -m paddle.distributed.launch a.py --epochs 3"
    assert spec_of("new/paddlejob.yaml").command == expected
    assert paddlespec("init", "new", "--mode", "parallel", "--force", "--", "./run").returncode == 0
    assert spec_of("new/paddlejob.yaml").command == "./run"


def test_wrong_use_is_told() -> None:
    for arguments, message in [
        (["--from-command"], "needs a command after --"),
        (["a", "b"], "one folder at a time"),
        (["--mode", "pss"], "expected one of collective, ps, legacy, parallel"),
    ]:
        done = paddlespec("init", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
    assert os.listdir() == []
