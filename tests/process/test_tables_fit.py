"""Tables of `get` are cut at the width of a terminal, and not otherwise."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = "a-job-with-a-name-that-is-rather-long"
SPEC = f"""\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {{name: {LONG}}}
spec:
  mode: parallel
  image: registry.test/paddle:1
  command: sleep 600
  trainers: {{replicas: 2, resources: {{cpu: 10m, memory: 10Mi}}}}
"""
COMMAND = (sys.executable, "-m", "paddlespec")
TABLES = (
    ("get", "jobs"),
    ("get", "workers", LONG),
    ("get", "history", "--target", "local"),
)


def environment(home: Path) -> dict[str, str]:
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home), "KUBECONFIG": str(home / "none")}
    return {**os.environ, **places}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "paddlejob.yaml").write_text(SPEC)
    apply = ("apply", "paddlejob.yaml", "--target", "local", "--wait", "ready")
    for command in (apply, ("kill", LONG, "--yes")):
        subprocess.run(
            [*COMMAND, *command],
            cwd=tmp_path,
            env=environment(tmp_path),
            check=True,
            capture_output=True,
        )
        if command == apply:
            yield tmp_path


def on_a_terminal(home: Path, *arguments: str) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.run(
        [*COMMAND, *arguments], env=environment(home), stdin=theirs, stdout=theirs, check=False
    )
    os.close(theirs)
    assert done.returncode == 0
    output = os.read(ours, 100_000).decode()
    os.close(ours)
    return output


def test_tables_fit_a_terminal_and_are_whole_elsewhere(home: Path) -> None:
    cut = 0
    for arguments in TABLES:
        colored = on_a_terminal(home, *arguments)
        assert re.search("\x1b\\[3[123]m(running|succeeded|failed)\x1b\\[0m", colored) or cut == 2
        shown = re.sub("\x1b\\[[0-9]*m", "", colored).splitlines()
        assert len(shown) > 1
        assert max(map(len, shown)) <= 80, shown
        cut += any("…" in line for line in shown)
        piped = subprocess.run(
            [*COMMAND, *arguments],
            env=environment(home),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "…" not in piped
        assert LONG in piped
    assert cut, "a table that is too wide is cut"
