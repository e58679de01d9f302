"""`get quota`: what a namespace may have, and whether a job fits into what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli import jobs, listing, options, reach
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.capacity.line import Line
    from paddlespec.capacity.room import Room
    from paddlespec.cli.fitting import Question


def quota(
    path: Annotated[
        str | None,
        typer.Option("--for", metavar="PATH", help="Whether the job of this spec fits now."),
    ] = None,
    everywhere: reach.Everywhere = False,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    datacenter: reach.Datacenter = None,
    templates: options.TemplatesFolder = None,
    watch: jobs.Watch = False,
    output: listing.Form = "table",
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show what quotas, limit ranges and queues of Kueue and Volcano leave to the namespace.

    With --for what a job needs of each, and how much is short. Exits with 3 when something is
    short; what you may not look at is unknown, which is not short.

    \b
    paddlespec get quota
    paddlespec get quota --for paddlejob.yaml -u trainers.replicas=8
    """
    from paddlespec.cli import fitting
    from paddlespec.cli.places import Engines
    from paddlespec.cli.session import choices

    listing.check(output)
    if path is None and (overlay or profile or update or templates):
        raise Stop(Exit.usage, "--overlay, --profile, -u and --templates need --for PATH")
    if path is not None and everywhere:
        raise Stop(Exit.usage, "--for asks in the namespace of the job: leave out -A")
    built = None
    if path is not None:
        chosen = choices(overlay, profile, update, None, datacenter)
        built = fitting.one_job(path, chosen, templates)
    with Engines(kubeconfig, context, namespace, None) as engines:
        if built is not None:
            question = fitting.of_job(engines, built)
        else:
            client = reach.client(engines, datacenter)
            space = reach.space(client, namespace, everywhere=everywhere)
            question = fitting.Question(client, space)
        if watch:
            jobs.watch_list(
                lambda: question.lines(question.room()),
                lambda each: (each.namespace or "", each.kind, each.name, each.resource or ""),
                lambda found: _forms(question, found, None),
                question.client.pause,
                output,
            )
        room = question.room()
    found = question.lines(room)
    _tell(question, room, found, is_table=output in ("table", "wide"))
    listing.show(output, *_forms(question, found, room))
    return _code(question, found)


def _tell(question: Question, room: Room, found: list[Line], *, is_table: bool) -> None:
    """Say what the lines do not."""
    from paddlespec.cli.fitting import held
    from paddlespec.cli.tell import note

    if question.job is None:
        reach.tell(room.unknown)
    elif room.held:
        note(held(question.job, room.held))
    if not (found or room.unknown) and is_table:
        place = f"namespace {question.namespace}" if question.namespace else "any namespace"
        note(f"nothing bounds {place}: no quota, no limit range, no queue")


def _code(question: Question, found: list[Line]) -> Exit:
    from paddlespec.capacity.line import verdict

    is_short = question.job is not None and verdict(found) is False
    return Exit.refused if is_short else Exit.done


def _forms(question: Question, found: list[Line], room: Room | None) -> tuple[Any, Any, Any]:
    """Lines as data, as names, and as a table."""
    from paddlespec.capacity.line import verdict
    from paddlespec.report.capacity import line_data, lines, unknown_data

    spaces, is_asked = not question.namespace, question.job is not None
    data = {
        "namespace": question.namespace or None,
        "job": question.job,
        "fits": verdict(found) if is_asked else None,
        "lines": [line_data(each) for each in found],
        "unknown": unknown_data(room.unknown if room else ()),
    }
    names = dict.fromkeys(f"{each.kind}/{each.name}" for each in found)
    return (
        lambda: data,
        lambda: names,
        lambda wide, width: lines(found, spaces=spaces, is_asked=is_asked, wide=wide, width=width),
    )
