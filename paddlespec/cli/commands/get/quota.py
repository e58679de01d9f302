"""`get quota`: what bounds a namespace, and whether a job fits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.capacity.line import Line
    from paddlespec.capacity.room import Room
    from paddlespec.cli.shared.feasibility import Question

_COMMAND = "get quota"


def quota(
    *,
    path: Annotated[
        str | None,
        typer.Option("--for", metavar="PATH", help="Show whether the job of this spec fits now."),
    ] = None,
    everywhere: listing.Everywhere = False,
    overlay: Annotated[
        list[str] | None,
        typer.Option("--overlay", metavar="FILE", help="With --for: merge FILE over the spec."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="With --for: apply this profile."),
    ] = None,
    update: Annotated[
        list[str] | None,
        typer.Option(
            "-u",
            "--update",
            metavar="KEY=VALUE",
            help="With --for: set a value, such as trainers.replicas=8.",
        ),
    ] = None,
    datacenter: options.Datacenter = None,
    allow_outside: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-outside", metavar="DIR", help="With --for: let the spec read files in DIR."
        ),
    ] = None,
    templates: options.TemplatesFolder = None,
    watch: listing.Watch = False,
    output: listing.Form = "table",
    cluster: options.Cluster,
) -> int:
    """
    Show what quotas, limits and queues leave to a namespace.

    With --for, shows what a job needs of each and how much is missing. Exits with 3 if something
    is missing; what you may not read is unknown and not counted as missing.

    \b
    paddlespec get quota
    paddlespec get quota --for paddlejob.yaml -u trainers.replicas=8
    """
    from paddlespec.cli.shared.watch import follow_list

    listing.check(output)
    if path is None and (overlay or profile or update or templates):
        raise Stop(Exit.usage, "--overlay, --profile, -u and --templates need --for PATH")
    if path is not None and everywhere:
        raise Stop(Exit.usage, "--for looks into the namespace of the job: remove -A")
    layers = options.Layers(overlay, profile, update, None, datacenter, allow_outside)
    with _question(path, layers, cluster, templates, everywhere=everywhere) as question:
        if watch:
            follow_list(
                lambda: question.lines(question.room()),
                lambda line: (line.namespace or "", line.kind, line.name, line.resource or ""),
                lambda shown: _listing(question, shown, None),
                question.engine.pause,
                output,
            )
        room = question.room()
    lines = question.lines(room)
    _note(question, room, lines, is_table=listing.is_table(output))
    listing.show(output, _listing(question, lines, room))
    return _code(question, lines)


@contextmanager
def _question(
    path: str | None,
    layers: options.Layers,
    cluster: options.Cluster,
    templates: str | None,
    *,
    everywhere: bool,
) -> Iterator[Question]:
    """What a namespace has; with *path*, whether that job fits."""
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.feasibility import Question, only_job, question_of
    from paddlespec.cli.shared.places import capacity_of

    if path is None:
        with capacity_of(cluster, layers.datacenter, _COMMAND, everywhere=everywhere) as place:
            yield Question(*place)
        return
    built = only_job(path, layers.choices(), templates)
    with Engines(cluster.request()) as engines:
        yield question_of(engines, built, _COMMAND)


def _note(question: Question, room: Room, lines: list[Line], *, is_table: bool) -> None:
    """Print what the lines do not say."""
    from paddlespec.cli.shared.feasibility import note_of
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.unknowns import note_unknown

    if question.job is None:
        note_unknown(room.unknown)
    elif room.held:
        note(note_of(question.job, room.held))
    if not (lines or room.unknown) and is_table:
        where = f"namespace {question.namespace}" if question.namespace else "any namespace"
        note(f"no quota, limit range or queue bounds {where}")


def _code(question: Question, lines: list[Line]) -> Exit:
    from paddlespec.capacity.line import verdict

    is_short = question.job is not None and verdict(lines) is False
    return Exit.refused if is_short else Exit.done


def _listing(question: Question, found: list[Line], room: Room | None) -> Listing:
    from paddlespec.capacity.line import verdict
    from paddlespec.report.capacity import line_data, lines, unknown_data

    spaces, is_asked = not question.namespace, question.job is not None
    data = {
        "namespace": question.namespace or None,
        "job": question.job,
        "fits": verdict(found) if is_asked else None,
        "lines": [line_data(line) for line in found],
        "unknown": unknown_data(room.unknown if room else ()),
    }
    names = dict.fromkeys(f"{line.kind}/{line.name}" for line in found)
    return Listing(
        lambda: data,
        lambda: names,
        lambda wide, width: lines(found, spaces=spaces, is_asked=is_asked, wide=wide, width=width),
    )
