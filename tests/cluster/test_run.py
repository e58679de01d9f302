"""What the processes of a run share ends with the run, not before."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
OWNER = """
import signal, sys
from control_plane.run import owned
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
with owned() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""
KEEPER = """
import sys
from pathlib import Path
from control_plane.run import locked, wait_for_owner
run = Path(sys.argv[1])
with locked(run / "shared"):
    print("keeps", flush=True)
    wait_for_owner(run)
    print("the folder is there:", run.exists(), flush=True)
    sys.stdin.read()
"""


@contextmanager
def python(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().rstrip("\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, None])
def test_what_is_shared_ends_with_the_owner(number: signal.Signals | None) -> None:
    with python(OWNER) as owner:
        folder = Path(line(owner.stdout))
        with python(KEEPER, str(folder)) as keeper:
            assert line(keeper.stdout) == "keeps"
            assert keeper.poll() is None
            assert owner.stdin is not None
            if number is None:
                owner.stdin.close()
            else:
                owner.send_signal(number)
            assert line(keeper.stdout) == "the folder is there: True"
            assert keeper.stdin is not None
            keeper.stdin.close()
            assert keeper.wait(10) == 0
        owner.wait(10)
    assert folder.exists() is (number is signal.SIGKILL)
    for path in folder.glob("*"):
        path.unlink()
    if folder.exists():
        folder.rmdir()
