"""A signal ends a command even when it arrives where Python drops exceptions."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

COMMAND = textwrap.dedent(
    """
    import signal, sys, time
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.exits import finish

    class Finalized:
        def __del__(self):
            signal.raise_signal(signal.{number})

    def command():
        with Engines(None):
            Finalized()
            time.sleep(20)

    sys.exit(finish(command))
    """
)


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_inside_a_finalizer_ends_the_command(number: str, code: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND.format(number=number)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "ignored" not in ended.stderr
