"""The life of a scratch container: created, waited for, entered, removed."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.output import fenced, note, remark, report_failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.backends.capabilities import Executes, Scratch, Shell
    from paddlespec.backends.protocols import Engine
    from paddlespec.render.manifest import Manifest


class Chosen(NamedTuple):
    """A container that exists, or the manifests of a new one, and the engine that has it."""

    engine: Engine
    scratch: Scratch
    executes: Executes
    shell: Shell | None
    manifests: Sequence[Manifest] = ()


def use(
    chosen: Chosen, command: Sequence[str], *, keep: bool, quiet: bool, no_color: bool = False
) -> int:
    """Run *command* in the container; return its exit code."""
    from paddlespec.cli.shared.streams import standard_streams
    from paddlespec.runs.failures import ConnectionLost, OperationFailed

    stays = False
    with _hangup_ends_the_command():
        shell = chosen.shell or chosen.scratch.create(chosen.manifests)
        try:
            replica = _wait(chosen.engine, shell, quiet=quiet, no_color=no_color)
            stays = keep
            with fenced(sys.stderr):
                return chosen.executes.execute(
                    shell.name, replica, command, standard_streams, remark
                )
        except OperationFailed as error:
            # A user who lost the connection can enter again, unless the time is over.
            stays = isinstance(error, ConnectionLost) and _runs(shell)
            return report_failure(shell.name, error)
        finally:
            chosen.engine.until(None)
            if not stays:
                shell.remove()
            elif not quiet:
                note(f"{shell.name} is kept until its time ends: paddlespec shell {shell.name}")


def _wait(engine: Engine, shell: Shell, *, quiet: bool, no_color: bool) -> str:
    """Show progress until the container runs; return its replica."""
    from paddlespec.cli.shared.progress_board import board
    from paddlespec.runs.backoff import Backoff
    from paddlespec.runs.failures import TimeRanOut

    shown = board(quiet=quiet, no_color=no_color, alone=True)
    pauses = Backoff().pauses()
    try:
        while True:
            state = shell.look()
            shown.show(shell.name, state.progress)
            if state.replica is not None:
                engine.until(None)
                return state.replica
            shown.paint()
            engine.pause(next(pauses))
    except TimeRanOut:
        raise TimeRanOut(f"timed out: {shown.last.get(shell.name, 'nothing seen yet')}") from None
    finally:
        shown.clear()


def _runs(shell: Shell) -> bool:
    """Whether the container can be entered again."""
    from paddlespec.runs.failures import OperationFailed

    try:
        return shell.look().replica is not None
    except OperationFailed:
        return False


@contextmanager
def _hangup_ends_the_command() -> Iterator[None]:
    """Clean up when the terminal is closed, as for a signal to terminate."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(Exit.terminated)

    before = signal.signal(signal.SIGHUP, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
