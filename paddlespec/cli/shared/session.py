"""What `validate`, `render` and `apply` do first: load specs, and report diagnostics."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.diagnostic import has_errors, in_order
from paddlespec.pipeline import Choices, Loaded, load
from paddlespec.spec.files import Files

SPEC = "paddlejob.yaml"
_FORCE = ("FORCE_COLOR", "CLICOLOR_FORCE")

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.diagnostic import Diagnostic


def required(paths: Sequence[str]) -> Sequence[str]:
    """Return *paths*, or the spec of the current folder; raises `Stop` if there is none."""
    if paths:
        return paths
    if not os.path.lexists(SPEC):
        hint = "name a file or a folder, or - for stdin; `paddlespec init` writes a new spec"
        raise Stop(Exit.usage, f"no spec given, and no {SPEC} in this folder", hint)
    return [SPEC]


def find_specs(
    paths: Sequence[str], chosen: Choices | None = None
) -> tuple[list[str], list[Diagnostic]]:
    """The files below *paths*, and what is wrong with the paths."""
    return (chosen.files() if chosen else Files()).specs(paths)


def load_each(
    names: Sequence[str], files: Files, chosen: Choices
) -> Iterator[tuple[list[Loaded], list[Diagnostic]]]:
    """The jobs of one file after another, with its diagnostics."""
    for name in names:
        jobs, diagnostics = load(name, files, chosen)
        yield jobs, [*diagnostics, *(found for job in jobs for found in job.diagnostics)]


def load_valid(
    paths: Sequence[str], files: Files, chosen: Choices, *, quiet: bool, no_color: bool = False
) -> list[Loaded]:
    """The jobs of *paths*; diagnostics go to stderr, and an error ends the command."""
    names, diagnostics = find_specs(paths, chosen)
    jobs: list[Loaded] = []
    for loaded, faults in load_each(names, files, chosen):
        jobs += loaded
        diagnostics += faults
    report(in_order(diagnostics), files.texts, quiet=quiet, no_color=no_color)
    return jobs


def report(
    diagnostics: Sequence[Diagnostic],
    texts: Mapping[str, str],
    *,
    quiet: bool,
    no_color: bool = False,
) -> None:
    """Print diagnostics on stderr; an error ends the command."""
    shown = [found for found in diagnostics if found.is_error] if quiet else diagnostics
    if shown:
        write.findings(sys.stderr, formatted(sys.stderr, shown, texts, no_color=no_color))
    if has_errors(diagnostics):
        raise Stop(Exit.usage)


def formatted(
    stream: TextIO,
    diagnostics: Sequence[Diagnostic],
    texts: Mapping[str, str],
    *,
    no_color: bool = False,
) -> str:
    """Diagnostics for *stream*: on a terminal with lines of the spec and hints."""
    from paddlespec.report import text

    color = colored(stream, no_color=no_color)
    return text.diagnostics(diagnostics, texts, color=color, excerpts=stream.isatty())


def colored(stream: TextIO, *, no_color: bool = False) -> bool:
    """Whether *stream* is a terminal on which the user wants colors, or they are forced."""
    if no_color or os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name) not in (None, "", "0") for name in _FORCE):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
