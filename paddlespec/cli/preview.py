"""`render --preview` and `render --show-origin`: what is read before it runs."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from paddlespec.cli.build import build_all
from paddlespec.cli.exits import Exit
from paddlespec.cli.session import colored, load_valid
from paddlespec.files import Files

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
    """Show what the specs of *paths* would run, one page each; with *feasibility* whether now."""
    from paddlespec.report.preview import preview as page

    # Warnings are part of the page.
    jobs = load_valid(paths, Files(), chosen, quiet=True, no_color=no_color)
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    color = colored(sys.stdout, no_color=no_color)
    built = build_all(jobs, templates)
    found = _feasible(built) if feasibility else [None] * len(built)
    pages = [
        page(each.loaded, each.manifests, width=width, color=color, feasible=feasible)
        for each, feasible in zip(built, found)
    ]
    sys.stdout.write("\n\n".join(pages))
    is_lost = any(each is not None and each.trouble for each in found)
    return Exit.refused if is_lost else Exit.done


def _feasible(built: Sequence[Built]) -> list[Feasible | None]:
    """Ask the cluster of each job whether it has room; one that cannot be asked is told."""
    from paddlespec.backend import OperationFailed
    from paddlespec.capacity.room import Feasible
    from paddlespec.cli import fitting
    from paddlespec.cli.places import Engines

    found: list[Feasible | None] = []
    with Engines(None, None, None, None) as engines:
        for each in built:
            try:
                question = fitting.of_job(engines, each)
                room = question.room(with_nodes=True)
            except OperationFailed as error:
                found.append(Feasible((), error.message))
                continue
            note = fitting.held(question.job or "", room.held) if room.held else None
            found.append(Feasible(tuple(question.lines(room)), note=note))
    return found


def show_origin(paths: Sequence[str], chosen: Choices, *, no_color: bool = False) -> int:
    """Name the layer and line behind each value of the specs of *paths*."""
    from paddlespec.report.mask import secrets_of
    from paddlespec.report.origins import origins, text

    jobs = load_valid(paths, Files(), chosen, quiet=False, no_color=no_color)
    sys.stdout.write("\n".join(text(origins(each.document, secrets_of(each))) for each in jobs))
    return Exit.done
