"""What commands have to say about this machine: options of a rehearsal, its logs, what is next."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.backend import Run, Until
    from paddlespec.cli.running import Waiting
    from paddlespec.local.engine import Engine
    from paddlespec.pipeline import Loaded

_ROLES = ("trainers", "pservers")
_DRAIN_SECONDS = 10.0

Scale = Annotated[
    list[str] | None,
    typer.Option(
        "--scale", metavar="ROLE=N,...", help="Local: fewer replicas, as in trainers=2,pservers=1."
    ),
]
Mount = Annotated[
    list[str] | None,
    typer.Option("--mount", metavar="PATH=DIR", help="Local: DIR stands for the mount at PATH."),
]
Python = Annotated[
    str | None,
    typer.Option("--python", metavar="FILE", help="Local: the Python that has Paddle."),
]
CpuOnly = Annotated[bool, typer.Option("--cpu-only", help="Local: do without the GPUs asked for.")]
Where = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="local: the rehearsal on this machine; kubernetes: the cluster.",
    ),
]


class Here(NamedTuple):
    """The options of a rehearsal as they were given."""

    mount: Sequence[str] | None = None
    python: str | None = None
    cpu_only: bool = False
    attached: bool = False


def scaled(scale: Sequence[str] | None) -> list[str]:
    """`--scale` as updates of the spec."""
    found = []
    for each in (part for text in scale or () for part in text.split(",")):
        role, separator, count = each.partition("=")
        if role not in _ROLES or not separator or not count.isascii() or not count.isdecimal():
            hint = "such as --scale trainers=2,pservers=1"
            raise Stop(Exit.usage, f"--scale {each}: expected trainers=N or pservers=N", hint)
        found.append(f"{role}.replicas={int(count)}")
    return found


def check(jobs: Sequence[Loaded], here: Here, scale: Sequence[str] | None) -> None:
    """Refuse the options of a rehearsal where something else is meant."""
    given = {
        "--scale": scale,
        "--mount": here.mount,
        "--python": here.python,
        "--cpu-only": here.cpu_only,
    }
    named = next((option for option, value in given.items() if value), None)
    other = next((each for each in jobs if each.target != "local"), None)
    if named and other:
        raise Stop(
            Exit.usage,
            f"{named} is for rehearsals, and {other.file} is for target {other.target}",
            "add --target local",
        )
    _mounts(here.mount)


def open_local(namespace: str | None, here: Here | None, loaded: Loaded | None) -> Engine:
    """This machine as a backend; the datacenter's local mapping stands below --mount."""
    from paddlespec.cli.tell import note
    from paddlespec.local.engine import Engine
    from paddlespec.local.options import Options

    here = here or Here()
    claims: dict[str, str] = {}
    if loaded is not None and loaded.project is not None:
        claims = loaded.project.local_claims(loaded.datacenter)
    options = Options(_mounts(here.mount), claims, here.python, here.cpu_only, os.environ)
    engine = Engine(namespace, options, attached=here.attached)
    engine.tell = note
    return engine


def is_here(name: str, namespace: str | None) -> bool:
    """
    Whether a bare name means the rehearsal.

    It does while that runs; and after it where there is no cluster that could be meant.
    """
    if sys.platform == "win32":
        return False
    from paddlespec.local.folder import DEFAULT_NAMESPACE, JobFolder, jobs

    folder = JobFolder(namespace or DEFAULT_NAMESPACE, name)
    if not folder.exists:
        # Where nothing else can be meant, this machine knows the name that was.
        return bool(jobs()) and not has_cluster()
    return bool(folder.alive()) or not has_cluster()


def has_run(name: str, namespace: str | None) -> bool:
    """Whether anything is known here of a job of that name."""
    if sys.platform == "win32":
        return False
    from paddlespec.local.folder import DEFAULT_NAMESPACE, JobFolder

    return JobFolder(namespace or DEFAULT_NAMESPACE, name).exists


@contextmanager
def showing_logs(runs: Sequence[Waiting], until: Until, *, no_color: bool) -> Iterator[None]:
    """While a command waits for the end of rehearsals, what they write is shown."""
    from paddlespec.backend import Until

    shown = []
    for name, engine, run in _here(runs) if until is Until.complete else ():
        if run.ended is None:
            own = _Shown(name, run.namespace, no_color=no_color)
            engine.shown[run.uid or ""] = own.to_the_end
            shown.append(own)
    try:
        yield
    finally:
        for own in shown:
            own.stop()


def tell_next(runs: Sequence[Waiting], until: Until) -> None:
    """What can be done with a rehearsal that goes on, and where the results are of one that ended."""
    from paddlespec.backend import Until
    from paddlespec.cli.tell import note

    for name, engine, run in _here(runs):
        if results := engine.results(run) if until is Until.complete else None:
            note(f"{name}: its results are in {results}")
        elif until is not Until.complete and engine.is_running(run):
            note(f"next: paddlespec logs {name} -f, paddlespec kill {name}")


def _here(runs: Sequence[Waiting]) -> Iterator[tuple[str, Engine, Run]]:
    """Those that are on this machine, whose engine is loaded for them alone."""
    if "paddlespec.local.engine" not in sys.modules:
        return
    from paddlespec.local.engine import Engine

    for each in runs:
        if isinstance(each.engine, Engine):
            yield each.name, each.engine, each.run


class _Shown:
    """The logs of the latest run of a job, shown until it is over or nobody waits any more."""

    def __init__(self, name: str, namespace: str, *, no_color: bool) -> None:
        from threading import Thread

        from paddlespec.cli.session import colored
        from paddlespec.cli.tell import note
        from paddlespec.local import log_places
        from paddlespec.local.log_reader import LocalLogs
        from paddlespec.logs.show import Style, Text
        from paddlespec.logs.start import Start

        self._stopped = False
        found = log_places.run_of(name, namespace, None, 0)
        replicas = log_places.sources(found)
        readers = log_places.logs(found, replicas, Start(), note, pieces=True).readers()
        self._logs = LocalLogs(readers, lambda: self._stopped or log_places.is_over(found))
        color = colored(sys.stdout, no_color=no_color)
        self._form = Text(replicas, Style(color=color, terminal=sys.stdout.isatty()))
        self._thread = Thread(target=self._show, daemon=True)
        self._thread.start()

    def to_the_end(self) -> None:
        """Wait until all is shown that a run wrote that is over."""
        self._thread.join(_DRAIN_SECONDS)

    def stop(self) -> None:
        """Show no more; a thread may not write while the interpreter ends."""
        self._stopped = True
        self._thread.join(_DRAIN_SECONDS)

    def _show(self) -> None:
        from paddlespec.logs.follow import show

        try:
            show(self._logs, self._form, sys.stdout.buffer, follow=True)
        except (BrokenPipeError, ValueError):
            return  # nobody reads it; the run goes on, and its logs are kept


def _mounts(given: Sequence[str] | None) -> dict[str, str]:
    found = {}
    for each in given or ():
        path, separator, folder = each.partition("=")
        if not separator or not path.startswith("/") or not folder:
            hint = "such as --mount /pfs/dc1/home/alice=./data"
            raise Stop(Exit.usage, f"--mount {each}: expected PATH=DIR", hint)
        if not os.path.isdir(folder):
            raise Stop(Exit.usage, f"--mount {each}: there is no folder {folder}")
        found[path] = os.path.abspath(folder)
    return found


def has_cluster() -> bool:
    """Whether there is a cluster that kubectl would use."""
    files = (os.environ.get("KUBECONFIG") or "~/.kube/config").split(os.pathsep)
    inside = bool(os.environ.get("KUBERNETES_SERVICE_HOST"))
    return inside or any(os.path.exists(os.path.expanduser(each)) for each in files if each)
