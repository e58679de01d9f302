"""`apply`, `kill` and `delete`: what changes a cluster."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paddlespec.cli import options
from paddlespec.cli.exits import Exit, Stop, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.backend import Contents, Event, Mode, OperationFailed, Progress, Run, Until
    from paddlespec.cluster.engine import Engine
    from paddlespec.pipeline import Built, Choices, Loaded

_POLL_SECONDS = 1.0
_DURATION = re.compile(r"([0-9]+[dhms])+\Z")

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME|PATH...", help="Jobs by name, or specs: a PATH has a / or ends in .yaml."
    ),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the pods to end.")]


def apply(
    paths: options.Paths = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: options.Target = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    dry_run: Annotated[
        str,
        typer.Option(
            "--dry-run",
            metavar="none|client|server",
            help="client: print what would be sent; server: let the cluster check it. "
            "Neither changes anything.",
        ),
    ] = "none",
    wait: Annotated[
        str,
        typer.Option(
            "--wait",
            metavar="created|ready|complete",
            help="Until every replica runs, or until the job has ended.",
        ),
    ] = "created",
    timeout: options.Timeout = None,
    templates: options.TemplatesFolder = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what runs first; with --yes go on at once.")
    ] = False,
    yes: options.Yes = False,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Make jobs run on a cluster; what already runs is not disturbed.

    The cluster is the one that kubectl would use. Exits with 4 when the job itself fails while
    waiting, with 5 when time runs out.

    \b
    paddlespec apply paddlejob.yaml
    paddlespec apply jobs/ --dry-run server
    paddlespec apply paddlejob.yaml --wait complete --timeout 2h
    """
    from paddlespec.backend import Mode, Until
    from paddlespec.cli.build import build_all
    from paddlespec.cli.session import choices, given, load_valid
    from paddlespec.files import Files

    mode = Mode(_one_of("--dry-run", dry_run, [each.value for each in Mode]))
    until = Until(_one_of("--wait", wait, [each.value for each in Until]))
    deadline = _deadline(timeout)
    chosen = choices(overlay, profile, update, target, datacenter)
    wanted = given(paths, file)
    jobs = load_valid(wanted, Files(), chosen, quiet=quiet)
    _check_places(jobs, namespace)
    built = build_all(jobs, templates)
    if preview and not _previewed(wanted, chosen, templates, yes=yes, no_color=no_color):
        return Exit.done
    with _Engines(kubeconfig, context, namespace, deadline) as engines:
        runs, codes = _apply_all(built, engines, mode)
        if mode is Mode.none and until is not Until.created:
            codes += _wait_for_all(runs, until, quiet=quiet)
    return worst(codes)


def kill(
    names: Names = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    rm: Annotated[bool, typer.Option("--rm", help="The same as `delete`.")] = False,
    no_wait: NoWait = False,
    timeout: options.Timeout = None,
    yes: options.Yes = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Stop jobs and remove their objects; claims that were created with a job stay.

    Waits until no pod of the job is left, in any role.

    \b
    paddlespec kill word2vec
    paddlespec kill jobs/word2vec/paddlejob.yaml --yes
    """
    chosen = _layers(overlay, profile, update, datacenter)
    removal = _Removal(claims=rm, ignore_absent=False, no_wait=no_wait, yes=yes, quiet=quiet)
    meant = _meant(names, file, chosen, namespace)
    with _Engines(kubeconfig, context, namespace, _deadline(timeout)) as engines:
        return _remove_all(meant, engines, removal)


def delete(
    names: Names = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    ignore_not_found: Annotated[
        bool, typer.Option("--ignore-not-found", help="A job that is not there is no error.")
    ] = False,
    no_wait: NoWait = False,
    timeout: options.Timeout = None,
    yes: options.Yes = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Stop jobs and remove everything of theirs, the claims that were created with them included.

    Waits until no pod of the job is left, in any role.

    \b
    paddlespec delete word2vec
    paddlespec delete -f paddlejob.yaml --ignore-not-found
    """
    chosen = _layers(overlay, profile, update, datacenter)
    removal = _Removal(
        claims=True, ignore_absent=ignore_not_found, no_wait=no_wait, yes=yes, quiet=quiet
    )
    meant = _meant(names, file, chosen, namespace)
    with _Engines(kubeconfig, context, namespace, _deadline(timeout)) as engines:
        return _remove_all(meant, engines, removal)


class _Engines:
    """The connections of one command: one for each place, closed at the end."""

    def __init__(
        self,
        kubeconfig: str | None,
        context: str | None,
        namespace: str | None,
        deadline: float | None,
    ) -> None:
        self.kubeconfig, self.context, self.namespace = kubeconfig, context, namespace
        self.deadline = deadline
        self._open: dict[tuple[str | None, str | None], Engine] = {}

    def __enter__(self) -> _Engines:
        # State in the cluster is consistent at every moment: all that is left to do at the end
        # is to close connections.
        signal.signal(signal.SIGTERM, _terminated)
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._open.values():
            each.close()

    def at(self, preferred: str | None, namespace: str | None = None) -> Engine:
        """The engine for a datacenter's context and a job's namespace."""
        from paddlespec.cluster.engine import open_engine

        key = (None if self.context else preferred, namespace)
        if key not in self._open:
            engine = open_engine(self.kubeconfig, self.context, self.namespace or namespace, key[0])
            engine.until(self.deadline)
            self._open[key] = engine
        return self._open[key]


class _Waiting(NamedTuple):
    name: str
    engine: Engine
    run: Run


def _apply_all(
    built: Sequence[Built], engines: _Engines, mode: Mode
) -> tuple[list[_Waiting], list[int]]:
    """Apply each job; one that fails does not stop the others."""
    from paddlespec.backend import Mode, OperationFailed, Work

    runs, codes = [], []
    for each in built:
        name = each.loaded.job.metadata.name
        try:
            engine = engines.at(_context(each.loaded))
            told = _told if mode is not Mode.client else _noted
            run = engine.apply(Work(name, each.manifests), mode, told)
        except OperationFailed as error:
            codes.append(_failed(name, error))
            continue
        runs.append(_Waiting(name, engine, run))
        if mode is Mode.client:
            from paddlespec.emit import dump_all

            sys.stdout.write(dump_all(engine.sent))
    return runs, codes


def _wait_for_all(runs: list[_Waiting], until: Until, *, quiet: bool) -> list[int]:
    """Look at all jobs in turn until each is where it should be, or cannot get there."""
    from paddlespec.backend import OperationFailed, TimeRanOut

    codes = []
    lines = _Lines(quiet=quiet)
    pending = list(runs)
    while pending:
        for each in tuple(pending):
            try:
                progress = each.engine.look(each.run, until)
            except OperationFailed as error:
                pending.remove(each)
                codes.append(_failed(each.name, error))
                continue
            lines.tell(each.name, progress)
            if progress.done:
                pending.remove(each)
        try:
            if pending:
                pending[0].engine.pause(_POLL_SECONDS)
        except TimeRanOut:
            for each in pending:
                last = lines.last.get(each.name, "nothing seen yet")
                late = TimeRanOut(f"time ran out while waiting until {until.value}: {last}")
                codes.append(_failed(each.name, late))
            return codes
    return codes


class _Lines:
    """Progress as plain lines, each said once."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.last: dict[str, str] = {}

    def tell(self, name: str, progress: Progress) -> None:
        if self.last.get(name) == progress.message:
            return
        self.last[name] = progress.message
        if not self.quiet:
            sys.stderr.write(f"{name}: {progress.message}\n")
            sys.stderr.flush()


class _Removal(NamedTuple):
    claims: bool
    ignore_absent: bool
    no_wait: bool
    yes: bool
    quiet: bool

    @property
    def verb(self) -> str:
        return "delete" if self.claims else "kill"


class _Meant(NamedTuple):
    """A job that a command names, and where it is."""

    name: str
    namespace: str | None = None
    context: str | None = None


def _remove_all(meant: Sequence[_Meant], engines: _Engines, removal: _Removal) -> int:
    from paddlespec.backend import NotFound, OperationFailed

    codes: list[int] = []
    pending: list[tuple[str, Engine]] = []
    for each in meant:
        try:
            engine = engines.at(each.context, each.namespace)
            found = engine.contents(each.name)
            if not _confirmed(each.name, found, removal):
                _noted_text(f"{each.name} stays as it is")
                codes.append(Exit.refused)
                continue
            engine.remove(each.name, _told, claims=removal.claims)
        except NotFound as error:
            if removal.ignore_absent:
                _noted_text(error.message)
            else:
                codes.append(_failed(each.name, error))
        except OperationFailed as error:
            codes.append(_failed(each.name, error))
        else:
            pending.append((each.name, engine))
    if not removal.no_wait:
        codes += _wait_until_gone(pending, removal)
    return worst(codes)


def _wait_until_gone(pending: list[tuple[str, Engine]], removal: _Removal) -> list[int]:
    from paddlespec.backend import OperationFailed

    codes = []
    lines = _Lines(quiet=removal.quiet)
    for name, engine in pending:
        try:
            while not (progress := engine.remaining(name, claims=removal.claims)).done:
                lines.tell(name, progress)
                engine.pause(_POLL_SECONDS / 2)
        except OperationFailed as error:
            last = lines.last.get(name)
            codes.append(_failed(name, error, f": {last}" if last else ""))
    return codes


def _confirmed(name: str, found: Contents, removal: _Removal) -> bool:
    """Whether to go on: a person at a terminal is asked, a script has said what it wants."""
    if removal.yes or not _is_conversation():
        return True
    running = ", ".join(f"{count} {role}" for role, count in sorted(found.replicas.items()))
    since = f" for {_age(found.since)}" if running and found.since else ""
    told = f"{running} running{since}" if running else "nothing of it runs"
    claims = ", with its claims and their data" if removal.claims else ""
    return _agreed(f"{removal.verb} job {name} ({told}){claims}?")


def _previewed(
    wanted: Sequence[str], chosen: Choices, templates: str | None, *, yes: bool, no_color: bool
) -> bool:
    """Show the preview; whether to go on is for a person to say, or for --yes."""
    from paddlespec.cli.preview import preview

    preview(wanted, chosen, templates=templates, no_color=no_color)
    sys.stdout.flush()
    if yes:
        return True
    if not _is_conversation():
        _noted_text("nothing is applied: --yes goes on after the preview")
        return False
    return _agreed("apply this?")


def _is_conversation() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _agreed(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _meant(
    names: Sequence[str] | None,
    file: Sequence[str] | None,
    chosen: Choices,
    namespace: str | None,
) -> list[_Meant]:
    """The jobs that are named; a spec need not be valid to say which job it is."""
    found = [_Meant(each) for each in names or () if not _is_path(each)]
    paths = [*(each for each in names or () if _is_path(each)), *(file or ())]
    found += _of_specs(paths, chosen, namespace)
    if not found:
        raise Stop(Exit.usage, "no job given", "name a job, or its spec")
    return list(dict.fromkeys(found))


def _of_specs(paths: list[str], chosen: Choices, namespace: str | None) -> Iterator[_Meant]:
    from paddlespec.files import Files
    from paddlespec.pipeline import load

    files = Files()
    names, faults = files.specs(paths)
    for path in names:
        jobs, wrong = load(path, files, chosen)
        faults += wrong
        for each in jobs:
            name = getattr(each.job.metadata, "name", None)
            if not isinstance(name, str):
                raise Stop(Exit.usage, f"{path} names no job", "metadata.name is missing")
            _check_places([each], namespace)
            yield _Meant(name, getattr(each.job.metadata, "namespace", None), _context(each))
    if faults:
        raise Stop(Exit.usage, str(faults[0]))


def _is_path(word: str) -> bool:
    return (
        word in ("-", ".", "..")
        or "/" in word
        or os.sep in word
        or word.endswith((".yaml", ".yml"))
    )


def _layers(
    overlay: list[str] | None,
    profile: str | None,
    update: list[str] | None,
    datacenter: str | None,
) -> Choices:
    from paddlespec.cli.session import choices

    return choices(overlay, profile, update, None, datacenter)


def _check_places(jobs: Sequence[Loaded], namespace: str | None) -> None:
    """Refuse what would run somewhere else than its spec says, or twice in one place."""
    seen: dict[tuple[str | None, str | None, str], str] = {}
    for each in jobs:
        metadata = each.job.metadata
        own = getattr(metadata, "namespace", None)
        if own and namespace and own != namespace:
            raise Stop(
                Exit.usage,
                f"{each.file}: job {metadata.name} belongs to namespace {own}, not {namespace}",
                f"leave out -n, or move the job: -u metadata.namespace={namespace}",
            )
        key = (_context(each), own or namespace, metadata.name)
        if key in seen:
            raise Stop(
                Exit.usage,
                f"{seen[key]} and {each.file} both call their job {metadata.name}",
                "give the jobs different names",
            )
        seen[key] = each.file


def _context(loaded: Loaded) -> str | None:
    """The context of the datacenter that the job was rendered for."""
    if loaded.project is None or loaded.datacenter is None:
        return None
    context = loaded.project.datacenters.get(loaded.datacenter, {}).get("context")
    return context if isinstance(context, str) else None


def _deadline(timeout: str | None) -> float | None:
    from paddlespec.quantity import seconds

    if timeout is None:
        return None
    if not _DURATION.match(timeout):
        raise Stop(Exit.usage, f"--timeout {timeout}: expected a duration such as 90s or 1h30m")
    return time.monotonic() + seconds(timeout)


def _one_of(option: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise Stop(Exit.usage, f"{option} {value}: expected one of {', '.join(known)}")
    return value


def _age(since: str) -> str:
    """How long ago a time was, in its two largest units' worth of precision."""
    from datetime import datetime, timezone

    try:
        start = datetime.strptime(since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return "some time"
    passed = max(0, int((datetime.now(timezone.utc) - start).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if passed >= length:
            return f"{passed // length}{unit}"
    return f"{passed}s"


def _told(event: Event) -> None:
    """Changes of objects are the result; notes about them are not."""
    stream = sys.stdout if event.subject else sys.stderr
    stream.write(f"{event}\n")
    stream.flush()


def _noted(event: Event) -> None:
    _noted_text(str(event))


def _noted_text(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _failed(name: str, error: OperationFailed, more: str = "") -> int:
    """Tell why a job failed; the exit code that it means."""
    from paddlespec.backend import JobFailed, TimeRanOut

    sys.stdout.flush()
    sys.stderr.write(f"paddlespec: {name}: {error.message}{more}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {error.hint}\n")
    if isinstance(error, JobFailed):
        return Exit.job_failed
    return Exit.timeout if isinstance(error, TimeRanOut) else Exit.refused


def _terminated(*_: object) -> None:
    raise SystemExit(Exit.terminated)
