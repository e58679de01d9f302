"""A new job is valid, and existing files are kept."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paddlespec.bundled import bundled
from paddlespec.cli.commands import init
from paddlespec.cli.shared.exits import Stop
from paddlespec.diagnostic import InvalidSpec
from paddlespec.pipeline import Choices, load
from paddlespec.spec.files import Files
from paddlespec.spec.frozen import job_of
from paddlespec.spec.scaffold import MODES, job_name, launched, scaffold

if TYPE_CHECKING:
    from paddlespec.model import Spec


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def spec_of(path: str = "paddlejob.yaml", profile: str | None = None) -> Spec:
    """Load the spec of a file, which must have no diagnostics."""
    [job], diagnostics = load(path, Files(), Choices(profile=profile))
    assert [str(diagnostic) for diagnostic in [*diagnostics, *job.diagnostics]] == []
    return job_of(job.document.data).spec


def written(mode: str, program: str) -> list[str]:
    """List the files of a new job; only mode ps needs an older Paddle than the newest."""
    older = ["requirements.txt"] if mode == "ps" else []
    return sorted([".paddleignore", "paddlejob.yaml", program, *older])


def test_requirements_of_the_user_and_of_other_images_are_kept() -> None:
    Path("requirements.txt").write_text("mine\n")
    init.write_job(".", "ps")
    assert Path("requirements.txt").read_text() == "mine\n"
    init.write_job("other", "ps", image="team/ctr:1")
    assert "requirements.txt" not in os.listdir("other")


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_a_valid_spec(mode: str) -> None:
    init.write_job("My Job_1", mode)
    for profile in (None, "smoke"):
        assert spec_of("My Job_1/paddlejob.yaml", profile).mode == mode
    text = Path("My Job_1/paddlejob.yaml").read_text()
    assert "name: my-job-1\n" in text
    assert text.startswith("# yaml-language-server: $schema=https://paddlespec.io/schemas/")
    assert sorted(os.listdir("My Job_1")) == written(mode, "train.py")


@pytest.mark.parametrize("mode", MODES)
def test_a_spec_for_a_custom_command_is_valid(mode: str) -> None:
    Path("main.py").touch()
    init.write_job(".", mode, "job", command=["python", "main.py", "--name", "a b"])
    launcher = "-m paddle.distributed.launch " if mode == "collective" else ""
    assert spec_of().command == f"python {launcher}main.py --name 'a b'"
    assert spec_of(profile="smoke").trainers.replicas == 1
    assert sorted(os.listdir()) == written(mode, "main.py")


@pytest.mark.parametrize("mode", MODES)
def test_the_example_program_compiles(mode: str) -> None:
    py_compile.compile(bundled("templates", "init", mode, "train.py"), "out.pyc", doraise=True)


def test_the_parallel_example_processes_every_item_once() -> None:
    init.write_job(".", "parallel")
    done: list[str] = []
    for index in range(3):
        env = {**os.environ, "PADDLESPEC_INDEX": str(index), "PADDLESPEC_COUNT": "3"}
        command = [sys.executable, "train.py", "--items", "10"]
        output = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
        done += [line for line in output.splitlines() if line.startswith("item ")]
    assert sorted(done) == [f"item {number}" for number in range(10)]


def test_the_collective_example_learns() -> None:
    pytest.importorskip("paddle")
    init.write_job(".", "collective")
    command = [sys.executable, "-W", "ignore", "train.py", "--epochs", "3"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert float(output.split()[-1]) < 0.01


def test_name_and_image_are_set() -> None:
    init.write_job(".", "ps", "ctr", "team/ctr:1.2")
    assert spec_of().image == "team/ctr:1.2"
    lines = Path("paddlejob.yaml").read_text().splitlines()
    assert "  name: ctr" in lines
    assert [line for line in lines if line.startswith("  image: team/ctr:1.2   #")]


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
def test_a_job_has_the_name_of_its_folder(folder: str, name: str) -> None:
    assert job_name(folder) == name


def test_an_invalid_name_is_rejected_before_writing() -> None:
    with pytest.raises(InvalidSpec, match=r"--name Fit_A: error: invalid job name"):
        init.write_job("new", "ps", "Fit_A")
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


def test_existing_files_are_not_overwritten() -> None:
    Path("train.py").write_text("mine")
    with pytest.raises(Stop, match=r"already exists: train\.py"):
        init.write_job(".", "ps")
    assert os.listdir() == ["train.py"]
    init.write_job(".", "ps", force=True)
    assert Path("train.py").read_text() != "mine"


def test_an_existing_ignore_file_is_kept() -> None:
    Path(".paddleignore").write_text("mine")
    init.write_job(".", "ps", force=True)
    assert Path(".paddleignore").read_text() == "mine"


def paddlespec(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys\n"
        "from paddlespec.cli import app; from paddlespec.cli.shared import exits\n"
        "sys.exit(exits.run(app.main))\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_command_follows_two_dashes() -> None:
    Path("new").mkdir()
    Path("new/a.py").touch()
    Path("new/run").touch()
    done = paddlespec("init", "new", "--from-command", "--", "python", "a.py", "--epochs", "3")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        0,
        "next: paddlespec validate new/paddlejob.yaml",
    )
    expected = "python -m paddle.distributed.launch a.py --epochs 3"
    assert spec_of("new/paddlejob.yaml").command == expected
    assert paddlespec("init", "new", "--mode", "parallel", "--force", "--", "./run").returncode == 0
    assert spec_of("new/paddlejob.yaml").command == "./run"


def test_usage_errors_are_reported() -> None:
    for arguments, message in [
        (["--from-command"], "needs a command after --"),
        (["a", "b"], "expected one folder"),
        (["--mode", "pss"], "expected one of collective, ps, legacy, parallel"),
    ]:
        done = paddlespec("init", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
    assert os.listdir() == []


@pytest.mark.parametrize("flag", ["--nproc_per_node 2", "--nproc_per_node=2", "--nproc-per-node 2"])
def test_the_number_of_processes_moves_from_the_launcher_to_the_spec(flag: str) -> None:
    command = f"python -m paddle.distributed.launch {flag} train.py --nproc_per_node 3".split()
    planned = scaffold("collective", "a", command=command)
    edits = {edit.path: edit.value for edit in planned.edits}
    assert edits[("spec", "trainers", "processesPerReplica")] == 2
    expected = "python -m paddle.distributed.launch train.py --nproc_per_node 3"
    assert edits[("spec", "command")] == expected


@pytest.mark.parametrize(
    "flag", ["--nproc_per_node", "--nproc_per_node many", "--nproc_per_node=0"]
)
def test_other_values_stay_for_validate_to_report(flag: str) -> None:
    command = ["python", "-m", "paddle.distributed.launch", *flag.split(), "train.py"]
    edits = {edit.path: edit.value for edit in scaffold("collective", "a", command=command).edits}
    assert ("spec", "trainers", "processesPerReplica") not in edits
    assert edits[("spec", "command")] == " ".join(command)
