"""`logs`: what the replicas of a job write."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import options
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import invalid, one_of, role_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.capabilities import RunLogs
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import JobRef
    from paddlespec.logs.follow import Form
    from paddlespec.logs.line import Source

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)\Z")
_DURATION = re.compile(r"([0-9]+[dhms])+\Z")


def logs(
    name: options.UsualJob = None,
    *,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Another way to give a PATH.")
    ] = None,
    role: options.Role = None,
    index: options.Index = None,
    rank: Annotated[
        int | None,
        typer.Option(
            "--rank",
            metavar="N",
            min=0,
            help="Print the log of process N of one replica, as Paddle's launcher keeps it.",
        ),
    ] = None,
    container: Annotated[
        str | None,
        typer.Option(
            "-c", "--container", metavar="NAME", help="Print this container, such as a sidecar."
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Keep printing until the run ends.")
    ] = False,
    lines: Annotated[
        int | None,
        typer.Option(
            "-n", "--lines", metavar="N", min=0, help="Print the last N lines of each replica."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Start 10m ago, for example, or at an RFC 3339 time."
        ),
    ] = None,
    grep: Annotated[
        str | None, typer.Option("--grep", metavar="REGEX", help="Print only lines that match.")
    ] = None,
    timestamps: Annotated[
        bool, typer.Option("--timestamps", help="Print when each line was written, in UTC.")
    ] = False,
    prefix: Annotated[
        bool | None,
        typer.Option(
            "--prefix/--no-prefix",
            help="Print the replica before each line [default: if there are several].",
        ),
    ] = None,
    previous: Annotated[
        bool,
        typer.Option(
            "--previous",
            help="Print the run before; on a cluster, the containers before their restart.",
        ),
    ] = False,
    run: Annotated[
        int | None, typer.Option("--run", metavar="N", help="Print the run with this number.")
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="text|json", help="Output format.")
    ] = "text",
    layers: options.Layers,
    context: options.Context = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", metavar="NAME", help="Use this namespace.")
    ] = None,
    kubeconfig: options.Kubeconfig = None,
    no_color: options.NoColor = False,
) -> int:
    """
    Print what the replicas of a job write, merged by time.

    Exits with 0 even if the job failed; the last line then names the replica that failed first. A
    name without --target means the rehearsal on this machine while one runs, or if there is no
    kubeconfig; otherwise the job in the cluster. Of several processes per replica, only the first
    writes here: --rank reads the others, on a cluster while the replica runs.

    \b
    paddlespec logs word2vec -f
    paddlespec logs -f
    paddlespec logs word2vec --role trainers --index 0 -n 100
    paddlespec logs word2vec --since 10m --grep 'loss|error'
    paddlespec logs word2vec --index 1 --rank 3
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import one_job
    from paddlespec.cli.shared.output import fenced, remark
    from paddlespec.cli.shared.session import colored
    from paddlespec.logs.follow import Rows, show
    from paddlespec.logs.show import Json, Style, Text
    from paddlespec.logs.start import Start

    one_of("-o", output, ("text", "json"))
    role = role_of(role)
    if rank is not None:
        given = {
            "--container": container,
            "--since": since,
            "--timestamps": timestamps,
            "--previous": previous,
        }
        _refuse_with_rank([*given, "-o json"], [*given.values(), output == "json"])
    pattern = _pattern(grep)
    text_matches = (lambda row: pattern.search(row[31:])) if pattern else None
    start = Start(lines, _time(since), text_matches)
    whole = output == "json" or grep is not None
    cluster = options.Cluster(context, namespace, kubeconfig)
    with Engines(cluster.request()) as engines:
        job = one_job(options.Job(name, file), layers.choices(), namespace, engines)
        stored = _stored(engines, job, run, previous=previous, container=container)
        replicas = _selected(stored.sources, job.name, role, index)
        if rank is not None:
            engine = engines.of_job(job)
            ranks = needed(engine.capabilities.ranks, engine, "logs --rank", job.name)
            replica = _only(replicas)
            with fenced():
                printed = Rows(sys.stdout.buffer, pattern)
                ranks.copy(job.name, run, replica, rank, lines, printed.write, follow=follow)
                printed.end()
            return Exit.done
        merged = stored.logs(replicas, start, remark, follow=follow, pieces=not whole)
        form: Form = Json()
        if output == "text":
            shown = len(replicas) > 1 if prefix is None else prefix
            color = colored(sys.stdout, no_color=no_color)
            form = Text(replicas, Style(shown, timestamps, color, sys.stdout.isatty()))
        with nullcontext() if output == "json" else fenced():
            show(merged, form, sys.stdout.buffer, follow=follow, grep=pattern)
        if verdict := stored.verdict():
            remark(verdict)
    return Exit.done


def _stored(
    engines: Engines, job: JobRef, run: int | None, *, previous: bool, container: str | None
) -> RunLogs:
    """The logs of the run that is asked for."""
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.runs.failures import NotFound

    engine = engines.of_job(job)
    try:
        return needed(engine.capabilities.logs, engine, "logs", job.name).of_run(
            job.name, run, previous=previous, container=container
        )
    except NotFound as error:
        if error.hint is None:
            error.hint = engines.hint_elsewhere(job)
        raise


def _selected(
    known: Sequence[Source], job: str, role: str | None, index: int | None
) -> list[Source]:
    """The replicas that the options choose; raises `Stop` if there is none."""
    chosen = [
        source
        for source in known
        if role in (None, source.role) and index in (None, source.replica)
    ]
    if not chosen:
        asked = " ".join([role or "replica", *([] if index is None else [str(index)])])
        counts = Counter(source.role for source in known)
        has = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise Stop(Exit.refused, f"{job} has no {asked}", f"it has {has}; indices start at 0")
    return chosen


def _refuse_with_rank(options: Sequence[str], given: Sequence[object]) -> None:
    """Refuse options that need times, which files of the launcher lack."""
    for option, value in zip(options, given):
        if value:
            message = f"{option} cannot be combined with --rank: the launcher writes no times"
            raise Stop(Exit.usage, message, f"remove {option}")


def _only(replicas: Sequence[Source]) -> Source:
    """The only replica, or the only trainer; raises `Stop`."""
    trainers = [source for source in replicas if source.role == "trainers"]
    for chosen in (replicas, trainers):
        if len(chosen) == 1:
            return chosen[0]
    hint = f"add --index, from 0 to {len(trainers or replicas) - 1}"
    raise Stop(Exit.usage, "--rank needs one replica", hint)


def _pattern(grep: str | None) -> re.Pattern[bytes] | None:
    if grep is None:
        return None
    try:
        return re.compile(grep.encode("utf-8", "surrogateescape"))
    except re.error as error:
        raise invalid("--grep", grep, f"not a regular expression: {error}") from None


def _time(since: str | None) -> bytes | None:
    """The time that --since names, as logs write times."""
    from datetime import datetime, timedelta, timezone

    from paddlespec.quantity import seconds

    if since is None:
        return None
    if match := _TIME.match(since):
        plain = since[:19].replace("t", "T").replace(" ", "T")
        zone = match[2].upper().replace("Z", "+0000").replace(":", "")
        try:
            moment = datetime.strptime(plain + zone, "%Y-%m-%dT%H:%M:%S%z")
        except ValueError as error:
            raise invalid("--since", since, str(error)) from None
        fraction = (match[1] or ".")[1:10].ljust(9, "0")
        return f"{moment.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S}.{fraction}Z".encode()
    if not _DURATION.match(since):
        why = "expected a duration such as 10m, or an RFC 3339 time"
        raise invalid("--since", since, why)
    try:
        moment = datetime.now(timezone.utc) - timedelta(seconds=seconds(since))
    except OverflowError:  # before there were any logs
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z".encode()
