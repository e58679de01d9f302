"""`render --preview` and `render --show-origin`: what people read before a job runs."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.build import build_all
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.session import colored, load_valid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.capacity.room import Feasible
    from paddlespec.pipeline import Built, Choices

_NARROWEST = 60


def preview(
    paths: Sequence[str],
    chosen: Choices,
    *,
    templates: str | None = None,
    no_color: bool = False,
    feasibility: bool = False,
) -> int:
    """Print what specs would run, one page each; with *feasibility*, whether it fits now."""
    from paddlespec.report.preview import preview as page

    # Warnings are part of the page.
    jobs = load_valid(paths, chosen.files(), chosen, quiet=True, no_color=no_color)
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    color = colored(sys.stdout, no_color=no_color)
    built = build_all(jobs, templates, chosen.allowed)
    fits = _feasible(built) if feasibility else [None] * len(built)
    pages = [
        page(job.loaded, job.manifests, width=width, color=color, feasible=feasible)
        for job, feasible in zip(built, fits)
    ]
    write.text("\n\n".join(pages))
    is_unreachable = any(feasible is not None and feasible.trouble for feasible in fits)
    return Exit.refused if is_unreachable else Exit.done


def _feasible(built: Sequence[Built]) -> list[Feasible | None]:
    """Ask the place of each job whether it has room; failures are part of the page."""
    from paddlespec.backends.protocols import Request
    from paddlespec.capacity.room import Feasible
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.feasibility import note_of, question_of
    from paddlespec.runs.failures import OperationFailed

    fits: list[Feasible | None] = []
    with Engines(Request()) as engines:
        for job in built:
            try:
                question = question_of(engines, job, "render --feasibility")
                room = question.room(nodes=True)
            except OperationFailed as error:
                fits.append(Feasible((), error.message))
                continue
            note = note_of(question.job or "", room.held) if room.held else None
            fits.append(Feasible(tuple(question.lines(room)), note=note))
    return fits


def show_origin(paths: Sequence[str], chosen: Choices, *, no_color: bool = False) -> int:
    """Print the layer and line behind each value of specs."""
    from paddlespec.report import origins
    from paddlespec.report.mask import secrets_of

    jobs = load_valid(paths, chosen.files(), chosen, quiet=False, no_color=no_color)
    pages = (origins.text(origins.origins(job.document, secrets_of(job))) for job in jobs)
    write.text("\n".join(pages))
    return Exit.done
