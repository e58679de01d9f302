"""`logs`: what the replicas of a job wrote."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from paddlespec.cli import local, options
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.cli.places import Engines, Meant
    from paddlespec.logs.follow import Form
    from paddlespec.logs.line import Source
    from paddlespec.logs.merge import Logs
    from paddlespec.logs.start import Start

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)\Z")
_DURATION = re.compile(r"([0-9]+[dhms])+\Z")


def logs(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|PATH", help="A job, or its spec: a PATH has a / or is .yaml."),
    ],
    role: Annotated[
        str | None, typer.Option("--role", metavar="trainers|pservers", help="Only this role.")
    ] = None,
    index: Annotated[
        int | None, typer.Option("--index", metavar="I", min=0, help="Only this replica.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on until the run is over.")
    ] = False,
    lines: Annotated[
        int | None,
        typer.Option("-n", "--lines", metavar="N", min=0, help="The last N lines of each replica."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Since 10m ago, or an RFC 3339 time."),
    ] = None,
    grep: Annotated[
        str | None, typer.Option("--grep", metavar="REGEX", help="Only lines that match.")
    ] = None,
    timestamps: Annotated[
        bool, typer.Option("--timestamps", help="When each line was written, in UTC.")
    ] = False,
    prefix: Annotated[
        bool | None,
        typer.Option(
            "--prefix/--no-prefix", help="The replica before each line; unless there is only one."
        ),
    ] = None,
    previous: Annotated[
        bool,
        typer.Option(
            "--previous", help="The run before; on a cluster, what was written before a restart."
        ),
    ] = False,
    run: Annotated[int | None, typer.Option("--run", metavar="N", help="An earlier run.")] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="text|json", help="Form of the output.")
    ] = "text",
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", metavar="NAME", help="Namespace.")
    ] = None,
    no_color: options.NoColor = False,
) -> int:
    """
    Show what the replicas of a job wrote, merged by time.

    A bare name means the rehearsal on this machine while that runs, or where there is no cluster
    to ask; --target says which. A job that failed is no failure of this command: who failed first
    is told at the end.

    \b
    paddlespec logs word2vec -f
    paddlespec logs word2vec --role trainers --index 0 -n 100
    paddlespec logs word2vec --since 10m --grep 'loss|error'
    """
    from paddlespec.cli.places import Engines, meant
    from paddlespec.cli.session import choices, colored
    from paddlespec.cli.tell import note
    from paddlespec.logs.follow import show
    from paddlespec.logs.show import Json, Style, Text
    from paddlespec.logs.start import Start

    if output not in ("text", "json"):
        raise Stop(Exit.usage, f"-o {output}: expected one of text, json")
    pattern = _pattern(grep)
    text_matches = (lambda row: pattern.search(row[31:])) if pattern else None
    start = Start(lines, _time(since), text_matches)
    chosen = choices(overlay, profile, update, target, datacenter)
    (job, *others) = meant([name], None, chosen, namespace)
    if others:
        raise Stop(Exit.usage, f"{name} holds several jobs", "name one of them")

    def tell(text: str) -> None:
        sys.stdout.flush()
        note(f"paddlespec: {text}")

    whole = output == "json" or grep is not None
    with Engines(kubeconfig, context, namespace, None) as engines:
        kept = _kept(engines, job, namespace, run, previous=previous)
        replicas = _selected(kept.sources, job.name, role, index)
        reading = kept.logs(replicas, start, tell, follow=follow, pieces=not whole)
        form: Form = Json()
        if output == "text":
            shown = len(replicas) > 1 if prefix is None else prefix
            color = colored(sys.stdout, no_color=no_color)
            form = Text(replicas, Style(shown, timestamps, color, sys.stdout.isatty()))
        show(reading, form, sys.stdout.buffer, follow=follow, grep=pattern)
        if told := kept.verdict():
            tell(told)
    return Exit.done


class _Kept(Protocol):
    """The logs that are kept of a run, wherever it ran."""

    @property
    def sources(self) -> Sequence[Source]:
        """Its replicas, trainers first."""

    def logs(
        self,
        chosen: Sequence[Source],
        start: Start,
        tell: Callable[[str], None],
        *,
        follow: bool,
        pieces: bool,
    ) -> Logs:
        """The logs of *chosen* replicas."""

    def verdict(self) -> str | None:
        """Why the run failed, if it did."""


def _kept(
    engines: Engines, job: Meant, namespace: str | None, run: int | None, *, previous: bool
) -> _Kept:
    from paddlespec.backend import NotFound
    from paddlespec.local.engine import Engine as LocalEngine

    engine = engines.meant(job)
    if isinstance(engine, LocalEngine):
        from paddlespec.local.log_places import Kept as Here

        return Here(job.name, namespace or job.namespace, run, int(previous))
    from paddlespec.cluster.logs import Kept as There

    try:
        return There(engine.client, job.name, run, previous=previous)
    except NotFound as error:
        if error.hint is None and local.has_run(job.name, namespace or job.namespace):
            error.hint = "the rehearsal on this machine: --target local"
        raise


def _selected(
    known: Sequence[Source], job: str, role: str | None, index: int | None
) -> list[Source]:
    """The replicas that the options name; a name that none has is refused."""
    wanted = f"{role.removesuffix('s')}s" if role else None
    if wanted not in (None, "trainers", "pservers"):
        raise Stop(Exit.usage, f"--role {role}: expected one of trainers, pservers")
    found = [
        each for each in known if wanted in (None, each.role) and index in (None, each.replica)
    ]
    if not found:
        asked = " ".join([wanted or "replica", *([] if index is None else [str(index)])])
        roles = {each.role: 0 for each in known}
        for each in known:
            roles[each.role] += 1
        has = ", ".join(f"{count} {each}" for each, count in roles.items())
        raise Stop(Exit.refused, f"{job} has no {asked}", f"it has {has}; the first has index 0")
    return found


def _pattern(grep: str | None) -> re.Pattern[bytes] | None:
    if grep is None:
        return None
    try:
        return re.compile(grep.encode("utf-8", "surrogateescape"))
    except re.error as error:
        raise Stop(Exit.usage, f"--grep {grep}: no regular expression: {error}") from None


def _time(since: str | None) -> bytes | None:
    """The time that --since names, in the form that logs have."""
    from datetime import datetime, timedelta, timezone

    from paddlespec.quantity import seconds

    if since is None:
        return None
    if found := _TIME.match(since):
        plain = since[:19].replace("t", "T").replace(" ", "T")
        zone = found[2].upper().replace("Z", "+0000").replace(":", "")
        try:
            moment = datetime.strptime(plain + zone, "%Y-%m-%dT%H:%M:%S%z")
        except ValueError as error:
            raise Stop(Exit.usage, f"--since {since}: {error}") from None
        fraction = (found[1] or ".")[1:10].ljust(9, "0")
        return f"{moment.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S}.{fraction}Z".encode()
    if not _DURATION.match(since):
        raise Stop(
            Exit.usage, f"--since {since}: expected a duration such as 10m, or an RFC 3339 time"
        )
    try:
        moment = datetime.now(timezone.utc) - timedelta(seconds=seconds(since))
    except OverflowError:  # before there were any logs
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z".encode()
