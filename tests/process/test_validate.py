"""`validate` and `render` as commands: what goes where, and with which code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

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
"""


def paddlespec(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "paddlespec", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


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
    places = [line.split(": ")[0] for line in done.stdout.splitlines()]
    assert places == [
        "./a/other.yaml:8:3",
        "./a/paddlejob.yaml:8:10",
        "./a/paddlejob.yaml:9:3",
        "./b/paddlejob.yaml:8:3",
    ]
    assert done.stderr == "3 specs, 4 errors\n"


def test_many_files_give_the_same_as_few(tmp_path: Path) -> None:
    for index in range(230):
        extra = "  nope: 1\n" if index % 50 == 0 else ""
        write(tmp_path, f"paddlejob-{index:03}.yaml", SPEC % f"job-{index}" + extra)
    every = [f"paddlejob-{index:03}.yaml" for index in range(230)]
    whole = paddlespec(tmp_path, "validate", *every)
    parts = [paddlespec(tmp_path, "validate", *every[i : i + 50]) for i in range(0, 230, 50)]
    assert whole.stdout == "".join(each.stdout for each in parts)
    assert whole.returncode == 1
    good = [each for index, each in enumerate(every) if index % 50]
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
    names = [each["metadata"]["name"] for each in json.loads(done.stdout)["items"]]
    assert names == ["a-trainer", "b-trainer"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        pytest.param(["validate"], 2, "no spec given", id="no-path"),
        pytest.param(["validate", "gone.yaml"], 1, "cannot be read", id="missing-file"),
        pytest.param(["render", "gone.yaml"], 2, "cannot be read", id="missing-file-to-render"),
        pytest.param(["render", "paddlejob.yaml", "-o", "xml"], 2, "expected one of", id="format"),
        pytest.param(["render", "paddlejob.yaml", "--check"], 2, "--out", id="check-alone"),
        pytest.param(["submit"], 2, "today it is `paddlespec apply`", id="older-verb"),
        pytest.param(["validte"], 2, "Did you mean", id="misspelt"),
        pytest.param(
            ["render", "paddlejob.yaml", "--profile", "x"], 2, "no profile is called", id="profile"
        ),
    ],
)
def test_codes_and_messages(tmp_path: Path, arguments: list[str], code: int, told: str) -> None:
    write(tmp_path, "paddlejob.yaml", SPEC % "a")
    done = paddlespec(tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr
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
    files = sorted(each.name for each in (tmp_path / "out").rglob("*.yaml"))
    assert files == ["README.yaml", "job-b-trainer.yaml"]


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    for index in range(40):
        write(tmp_path, f"paddlejob-{index}.yaml", SPEC % f"job-{index}")
    command = f"{sys.executable} -m paddlespec render . | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "---\n", "")
