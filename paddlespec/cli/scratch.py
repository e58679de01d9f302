"""The life of a scratch container: created, waited for, entered, and removed at the end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.exits import Exit
from paddlespec.cli.tell import failed, note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.cluster.client import Client
    from paddlespec.cluster.remote import Place
    from paddlespec.cluster.shell import Shell
    from paddlespec.manifest import Manifest

_POLL_SECONDS = 0.5


class Found(NamedTuple):
    """A shell that is there, or what makes a new one."""

    client: Client
    shell: Shell | None
    manifests: Sequence[Manifest] = ()


def use(
    found: Found, command: Sequence[str], *, keep: bool, quiet: bool, no_color: bool = False
) -> int:
    """Run *command* in it; its exit code."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.inside import enter
    from paddlespec.cluster import shell as shells
    from paddlespec.cluster.remote import Broken

    client, stays = found.client, False
    with _hanging_up():
        shell = found.shell or shells.create(client, found.manifests)
        try:
            place = _wait(client, shell, quiet=quiet, no_color=no_color)
            stays = keep
            return enter(client, place, command)
        except OperationFailed as error:
            # Whoever lost the connection goes on where he was, unless its time is over.
            stays = isinstance(error, Broken) and shells.runs(client, shell)
            return failed(shell.name, error)
        finally:
            client.deadline = None
            if not stays:
                shells.remove(client, shell)
            elif not quiet:
                note(f"{shell.name} stays until its time is over: paddlespec shell {shell.name}")


def _wait(client: Client, shell: Shell, *, quiet: bool, no_color: bool) -> Place:
    """Tell how far it is until it runs."""
    from paddlespec.backend import TimeRanOut
    from paddlespec.cli.board import board
    from paddlespec.cluster.shell import look

    shown = board(quiet=quiet, no_color=no_color, alone=True)
    try:
        while True:
            now = look(client, shell)
            shown.tell(shell.name, now.progress)
            if now.place is not None:
                client.deadline = None
                return now.place
            shown.paint()
            client.pause(_POLL_SECONDS)
    except TimeRanOut:
        raise TimeRanOut(
            f"time ran out: {shown.last.get(shell.name, 'nothing seen yet')}"
        ) from None
    finally:
        shown.clear()


@contextmanager
def _hanging_up() -> Iterator[None]:
    """A terminal that is closed ends the command as a signal to end does: it tidies up."""
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
