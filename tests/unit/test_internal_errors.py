"""A fault of our own is told by its place; values that were on the way to it are not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from paddlespec.cli.shared import exits
from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    import pytest

SECRET = "canary-hunter2"


def fail() -> None:
    password = SECRET
    try:
        dict[str, str]()[password]
    except KeyError:
        raise RuntimeError(password) from ValueError(password)


def test_the_place_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert exits.run(fail) == Exit.internal
    told = capsys.readouterr().err
    assert "internal error: RuntimeError at test_internal_errors.py:" in told
    assert "Traceback" not in told
    assert SECRET not in told


def test_a_traceback_holds_lines_of_code_and_no_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLESPEC_DEBUG", "1")
    assert exits.run(fail) == Exit.internal
    told = capsys.readouterr().err
    assert "raise RuntimeError(password)" in told
    assert told.count("ValueError\n") == 1
    assert told.endswith("RuntimeError\n")
    assert SECRET not in told


def test_no_other_printer_of_tracebacks_is_installed() -> None:
    code = f"""
import sys
from paddlespec.cli import app
from paddlespec.cli.commands import explain
from paddlespec.cli.shared import exits
def fail(*_, **__):
    password = "{SECRET}"
    raise RuntimeError(password)
explain.explain.__code__ = (lambda field=None, recursive=False, output="text": fail()).__code__
explain.explain.__globals__["fail"] = fail
sys.argv = ["paddlespec", "explain"]
sys.exit(exits.run(app.main))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PADDLESPEC_DEBUG": "1", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == Exit.internal, done.stderr
    assert "RuntimeError" in done.stderr
    assert "fail" in done.stderr
    assert SECRET not in done.stderr
