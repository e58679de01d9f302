"""`exec`: a command in a replica."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import local, options, seen
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.cli.places import Engine
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.engine import Engine as ClusterEngine
    from paddlespec.cluster.remote import Place
    from paddlespec.picture import Worker

_BLOCK = 32 * 1024


def execute(
    name: Annotated[str, typer.Argument(metavar=seen.METAVAR, help=seen.HELP)],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="What to run.")
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", metavar="trainers|pservers", help="In this role.")
    ] = None,
    index: Annotated[
        int | None, typer.Option("--index", metavar="I", min=0, help="In this replica.")
    ] = None,
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Run a command in a replica that runs: the first trainer, unless options say otherwise.

    Exits as the command does. What is piped in reaches it; on a terminal it has one too. A bare
    name means the rehearsal on this machine while that runs, or where there is no cluster to ask.

    \b
    paddlespec exec word2vec -- nvidia-smi
    paddlespec exec word2vec --role pservers --index 1 -- bash
    """
    from paddlespec.cli.places import Engines

    if not command:
        raise Stop(Exit.usage, "no command given", f"paddlespec exec {name} -- COMMAND")
    with Engines(kubeconfig, context, namespace, None) as engines:
        job = seen.the_job(name, target, datacenter, namespace)
        return _run(engines.meant(job), job.name, role, index, command)


def chosen(engine: Engine, name: str, role: str | None, index: int | None) -> Worker:
    """The first that runs of those that the options name: trainers where they say nothing."""
    from paddlespec.picture import Doing

    wanted = f"{role.removesuffix('s')}s" if role else "trainers"
    if wanted not in ("trainers", "pservers"):
        raise Stop(Exit.usage, f"--role {role}: expected one of trainers, pservers")
    found = engine.glance(name)
    named = [each for each in found.workers if each.role == wanted and index in (None, each.rank)]
    running = [each for each in named if each.state is Doing.running]
    if running:
        return running[0]
    asked = " ".join([wanted.removesuffix("s"), *([] if index is None else [str(index)])])
    if named:
        is_now = f"{named[0].name} is {named[0].state.value}"
    else:
        is_now = f"{name} is {found.job.stage.value}"
    hint = f"paddlespec get workers {name}"
    raise Stop(Exit.refused, f"no {asked} of {name} runs: {is_now}", hint)


def place_of(engine: ClusterEngine, name: str, role: str | None, index: int | None) -> Place:
    """The container of a replica, or of a shell that was kept."""
    from paddlespec.backend import NotFound
    from paddlespec.cluster import shell
    from paddlespec.cluster.logs import container_of
    from paddlespec.cluster.remote import Place

    client = engine.client
    try:
        worker = chosen(engine, name, role, index)
    except NotFound:
        kept = shell.find(client, name)
        found = shell.look(client, kept).place if kept else None
        if found is None:
            raise
        return found
    return Place(client.namespace, worker.name, container_of(client, worker.name))


def _run(engine: Engine, name: str, role: str | None, index: int | None, command: list[str]) -> int:
    from paddlespec.local.engine import Engine as LocalEngine

    if isinstance(engine, LocalEngine):
        from paddlespec.cli.tell import note
        from paddlespec.local import enter as beside
        from paddlespec.local.jobs import process_of

        worker = chosen(engine, name, role, index)
        sys.stdout.flush()
        process = process_of(engine.namespace, name, worker.name)
        return beside.execute(process, command, lambda text: note(f"paddlespec: {text}"))
    return enter(engine.client, place_of(engine, name, role, index), command)


def enter(client: Client, place: Place, command: Sequence[str]) -> int:
    """Run *command* in a container, with our streams; its exit code."""
    from paddlespec.cluster import remote

    with _streams() as streams:
        return remote.execute(client, place, command, streams)


class _Streams:
    """Our standard streams; a thread waits for the input."""

    def __init__(self, *, terminal: bool) -> None:
        self.terminal = terminal
        self.reads = not (sys.stdin.isatty() and not terminal)
        self._typed: SimpleQueue[bytes | None] = SimpleQueue()
        if self.reads:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while block := os.read(sys.stdin.fileno(), _BLOCK):
                self._typed.put(block)
        except OSError:
            pass
        self._typed.put(None)

    def typed(self) -> bytes | None:
        """What came in; empty while nothing does."""
        try:
            return self._typed.get_nowait()
        except Empty:
            return b""

    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        found = os.get_terminal_size(sys.stdout.fileno())
        return found.columns, found.lines

    def show(self, data: bytes, *, error: bool) -> None:
        """Pass it on at once."""
        out = (sys.stderr if error else sys.stdout).buffer
        out.write(data)
        out.flush()


@contextmanager
def _streams() -> Iterator[_Streams]:
    """Our streams; on a terminal every key goes to the command, Ctrl-C too."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and sys.platform != "win32"
    if not terminal:
        yield _Streams(terminal=False)
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin, termios.TCSADRAIN)
    try:
        yield _Streams(terminal=True)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
