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

    from paddlespec.pipeline import Choices

_NARROWEST = 60


def preview(
    paths: Sequence[str], chosen: Choices, *, templates: str | None = None, no_color: bool = False
) -> int:
    """Show what the specs of *paths* would run, one page each."""
    from paddlespec.report.preview import preview as page

    # Warnings are part of the page.
    jobs = load_valid(paths, Files(), chosen, quiet=True, no_color=no_color)
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    color = colored(sys.stdout, no_color=no_color)
    pages = [
        page(each.loaded, each.manifests, width=width, color=color)
        for each in build_all(jobs, templates)
    ]
    sys.stdout.write("\n\n".join(pages))
    return Exit.done


def show_origin(paths: Sequence[str], chosen: Choices, *, no_color: bool = False) -> int:
    """Name the layer and line behind each value of the specs of *paths*."""
    from paddlespec.report.mask import secrets_of
    from paddlespec.report.origins import origins, text

    jobs = load_valid(paths, Files(), chosen, quiet=False, no_color=no_color)
    sys.stdout.write("\n".join(text(origins(each.document, secrets_of(each))) for each in jobs))
    return Exit.done
