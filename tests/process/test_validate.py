"""`validate` and `render` as commands: their output streams and exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import IO, TYPE_CHECKING

import outputs
import pytest

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: %s}
spec:
  mode: parallel
  image: python:3.11
  command: python shard.py
  trainers: {resources: {memory: 1Gi}}
"""


def paddlespec(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "paddlespec", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    outputs.check(arguments, done.stdout)
    return done


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_findings_of_many_files_are_sorted_and_told_once(tmp_path: Path) -> None:
    write(tmp_path, "b/paddlejob.yaml", SPEC % "b" + "  imag: x\n")
    write(tmp_path, "a/paddlejob.yaml", SPEC % "a" + "  setup: x\n  modes: y\n")
    write(tmp_path, "a/other.yaml", SPEC % "c" + "  nope: 1\n")
    done = paddlespec(tmp_path, "validate", ".")
    assert done.returncode == 1
    findings = [line for line in done.stdout.splitlines() if not line.startswith("  hint: ")]
    places = [line.split(": ")[0] for line in findings]
    assert places == [
        "./a/other.yaml:9:3",
        "./a/paddlejob.yaml:9:10",
        "./a/paddlejob.yaml:10:3",
        "./b/paddlejob.yaml:9:3",
    ]
    assert done.stderr == "3 specs, 4 errors\n"


def test_many_files_give_the_same_as_few(tmp_path: Path) -> None:
    for index in range(230):
        extra = "  nope: 1\n" if index % 50 == 0 else ""
        write(tmp_path, f"paddlejob-{index:03}.yaml", SPEC % f"job-{index}" + extra)
    every = [f"paddlejob-{index:03}.yaml" for index in range(230)]
    whole = paddlespec(tmp_path, "validate", *every)
    parts = [paddlespec(tmp_path, "validate", *every[i : i + 50]) for i in range(0, 230, 50)]
    assert whole.stdout == "".join(part.stdout for part in parts)
    assert whole.returncode == 1
    good = [file for index, file in enumerate(every) if index % 50]
    rendered = paddlespec(tmp_path, "render", *good)
    assert rendered.returncode == 0
    assert rendered.stdout.count("kind: Job\n") == len(good)
    listed = json.loads(paddlespec(tmp_path, "render", *good, "-o", "json").stdout)
    assert len(listed["items"]) == len(good)


def test_render_writes_all_or_nothing(tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    write(tmp_path, "paddlejob-b.yaml", SPEC % "b" + "  nope: 1\n")
    done = paddlespec(tmp_path, "render", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown-key" in done.stderr


def test_a_patch_that_matches_nothing_is_found_by_validate(tmp_path: Path) -> None:
    patch = "  patches:\n  - {target: {kind: Deployment}, patch: {spec: {}}}\n"
    write(tmp_path, "paddlejob.yaml", SPEC % "a" + patch)
    done = paddlespec(tmp_path, "validate", "paddlejob.yaml")
    assert done.returncode == 1
    assert "[patch-no-match]" in done.stdout


def test_stdin_and_several_documents(tmp_path: Path) -> None:
    both = SPEC % "a" + "---\n" + SPEC % "b"
    assert paddlespec(tmp_path, "validate", "-", stdin=both).stderr == "2 specs are valid\n"
    done = paddlespec(tmp_path, "render", "-", "-o", "json", stdin=both)
    names = [item["metadata"]["name"] for item in json.loads(done.stdout)["items"]]
    assert names == ["a-trainer", "b-trainer"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["validate", "gone.yaml"], 1, "cannot read file", id="missing-file"),
        pytest.param(["render", "gone.yaml"], 2, "cannot read file", id="missing-file-to-render"),
        pytest.param(["render", "paddlejob.yaml", "-o", "xml"], 2, "expected one of", id="format"),
        pytest.param(["render", "paddlejob.yaml", "--check"], 2, "--out", id="check-alone"),
        pytest.param(
            ["render", ".", "--out", ""], 2, "needs the name of a folder", id="out-nowhere"
        ),
        pytest.param(
            ["render", ".", "--templates", "gone"], 2, "folder does not exist", id="no-templates"
        ),
        pytest.param(["submit"], 2, "hint: paddlespec apply", id="older-verb"),
        pytest.param(["validte"], 2, 'did you mean "paddlespec validate"', id="misspelt"),
        pytest.param(
            ["render", "paddlejob.yaml", "--profile", "x"], 2, "unknown profile", id="profile"
        ),
    ],
)
def test_codes_and_messages(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    done = paddlespec(tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_out_holds_exactly_what_is_rendered(tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    write(tmp_path, "out/README.yaml", "not: ours\n")
    assert paddlespec(tmp_path, "render", ".", "--out", "out").returncode == 0
    assert paddlespec(tmp_path, "render", ".", "--out", "out", "--check").returncode == 0
    write(tmp_path, "paddlejob.yaml", SPEC % "b")
    stale = paddlespec(tmp_path, "render", ".", "--out", "out", "--check")
    assert stale.returncode == 1
    assert stale.stdout == "stale out/a/job-a-trainer.yaml\nmissing out/b/job-b-trainer.yaml\n"
    assert paddlespec(tmp_path, "render", ".", "--out", "out").returncode == 0
    files = sorted(file.name for file in (tmp_path / "out").rglob("*.yaml"))
    assert files == ["README.yaml", "job-b-trainer.yaml"]


@pytest.mark.parametrize("option", ["", "--quiet"])
def test_a_closed_pipe_is_silent(option: str, tmp_path: Path) -> None:
    for index in range(40):
        write(tmp_path, f"paddlejob-{index}.yaml", SPEC % f"job-{index}")
    command = f"{sys.executable} -m paddlespec render . {option} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "---\n", "")


@pytest.mark.parametrize("command", ["--version", "render paddlejob.yaml", "schema", "--help"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device is always full")
def test_a_full_disk_is_told(command: str, tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    done = shell(tmp_path, f"{sys.executable} -m paddlespec {command} > /dev/full")
    assert done.returncode == 3
    assert done.stderr == "paddlespec: cannot write the output: no space left on device\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param("--version >&-", 0, id="version"),
        pytest.param("render paddlejob.yaml >&-", 0, id="no-stdout"),
        pytest.param("validate paddlejob.yaml 2>&-", 0, id="no-stderr"),
        pytest.param("render - <&- ", 2, id="no-stdin"),
    ],
)
def test_closed_streams_are_no_fault_of_ours(command: str, code: int, tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    done = shell(tmp_path, f"{sys.executable} -m paddlespec {command}")
    assert done.returncode == code
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_folder_is_walked_past_what_never_ends(tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    os.mkfifo(tmp_path / "paddlejob-pipe.yaml")
    assert paddlespec(tmp_path, "validate", ".").stderr == "1 spec is valid\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
@pytest.mark.parametrize("closed", ["jobs", "jobs/more.yaml"])
def test_what_may_not_be_read_is_not_passed_over(closed: str, tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    write(tmp_path, "jobs/more.yaml", SPEC % "b")
    (tmp_path / closed).chmod(0)
    done = paddlespec(tmp_path, "validate", ".")
    (tmp_path / closed).chmod(0o700)
    assert done.returncode == 1
    assert done.stdout == f"./{closed}: error: cannot read file: permission denied [file]\n"


def test_a_file_of_somebody_else_is_never_overwritten(tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    write(tmp_path, "out/a/job-a-trainer.yaml", "not: ours\n")
    done = paddlespec(tmp_path, "render", ".", "--out", "out")
    assert done.returncode == 3
    assert "job-a-trainer.yaml was not written by paddlespec" in done.stderr
    assert (tmp_path / "out/a/job-a-trainer.yaml").read_text() == "not: ours\n"


def test_an_effective_spec_reads_like_a_spec(tmp_path: Path) -> None:
    project = "apiVersion: paddlespec.io/v1\nkind: Project\nproject: p\ndefaults: {setup: []}\n"
    write(tmp_path, ".paddlespec.yaml", project)
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    lines = paddlespec(tmp_path, "render", ".", "-o", "spec").stdout.splitlines()
    keys = [line.partition(":")[0] for line in lines if line[0] not in "- "]
    assert keys == ["apiVersion", "kind", "metadata", "spec"]


def test_an_option_s_fault_names_the_option(tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    done = paddlespec(tmp_path, "validate", ".", "--target", "kubernets")
    assert done.stdout.startswith("--target kubernets: error: ")


@pytest.mark.parametrize("plain", ["--no-color", "NO_COLOR"])
def test_a_terminal_shows_lines_and_hints_without_colour_too(plain: str, tmp_path: Path) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a" + "  setups: []\n")
    environment = {**os.environ, "TERM": "xterm", **({plain: "1"} if plain.isupper() else {})}
    option = "" if plain.isupper() else f" {plain}"
    for command in ("validate", "render"):
        shown = on_a_terminal(tmp_path, f"{command} paddlejob.yaml{option}", environment)
        assert "\x1b" not in shown
        assert "  ^~~~~~" in shown
        assert 'hint: did you mean "setup"?' in shown


def on_a_terminal(folder: Path, command: str, environment: dict[str, str]) -> str:
    """Return everything that a command shows on a terminal."""
    import pty

    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        argv = [sys.executable, "-m", "paddlespec", *command.split()]
        os.execve(sys.executable, argv, environment)
    shown = b""
    with os.fdopen(terminal, "rb", buffering=0) as stream:
        while chunk := _next(stream):
            shown += chunk
    os.waitpid(process, 0)
    return shown.decode()


def _next(stream: IO[bytes]) -> bytes:
    try:
        return stream.read(4096)
    except OSError:  # on Linux, the other end of the terminal is closed
        return b""


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize(
    ("where", "path"), [(".", "."), (".", "./jobs/ctr"), ("jobs", "ctr"), ("jobs/ctr", "../ctr")]
)
def test_services_get_paths_from_the_root_of_the_repository(
    tmp_path: Path, where: str, path: str
) -> None:
    (tmp_path / "jobs" / "ctr").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    write(tmp_path / "jobs" / "ctr", "paddlejob.yaml", SPEC % "a" + "  nope: 1\n")
    written = paddlespec(tmp_path / where, "validate", path, "-o", "github").stdout
    assert "file=jobs/ctr/paddlejob.yaml," in written
    log = json.loads(paddlespec(tmp_path / where, "validate", path, "-o", "sarif").stdout)
    (result,) = log["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "jobs/ctr/paddlejob.yaml"}
