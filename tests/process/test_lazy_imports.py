"""Commands import what they need: a module that is missing breaks no other command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POSIX = ("fcntl", "resource", "termios", "tty", "pwd", "grp", "pty")
LIBRARIES = ("psutil", "jsonpatch", "jsonpointer", "kubernetes", "ruamel")
START = ("platformdirs", "rich", "jinja2")
RUN = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split(",")))
from paddlespec.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("--version", (*POSIX, *LIBRARIES, *START)),
        ("validate examples/fit-a-line-ps", (*POSIX, *LIBRARIES, *START)),
        ("render examples/fit-a-line-ps", (*POSIX, *LIBRARIES)),
        ("render examples/fit-a-line-ps --target local", (*POSIX, *LIBRARIES)),
        ("get jobs --target local", (*POSIX, *LIBRARIES)),
        ("__complete fish apply --target l", (*POSIX, *LIBRARIES, *START)),
        ("__complete fish render -u trainers.r", (*POSIX, *LIBRARIES, *START)),
    ],
)
def test_a_command_runs_without(command: str, missing: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, ",".join(missing), *command.split()],
        cwd=ROOT,
        env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["validate", "render", "validate .", "--version"])
def test_frequent_calls_load_no_option_parser(command: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, "typer", *command.split()],
        cwd=ROOT / "examples" / "fit-a-line-ps",
        env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
