"""What `validate`, `render` and `apply` do first: load specs, and tell what was found."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from paddlespec.cli.exits import Exit, Stop
from paddlespec.diagnostic import has_errors, in_order
from paddlespec.files import Files
from paddlespec.pipeline import Choices, Loaded, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.diagnostic import Diagnostic


def choices(
    overlay: Sequence[str] | None = None,
    profile: str | None = None,
    update: Sequence[str] | None = None,
    target: str | None = None,
    datacenter: str | None = None,
) -> Choices:
    """The options of the layers as one value."""
    return Choices(tuple(overlay or ()), profile, tuple(update or ()), target, datacenter)


def given(paths: Sequence[str] | None, file: Sequence[str] | None) -> list[str]:
    """The paths of a command, however they were given."""
    found = [*(paths or ()), *(file or ())]
    if not found:
        raise Stop(Exit.usage, "no spec given", "name a file or a folder, or - for stdin")
    return found


def find_specs(paths: Sequence[str]) -> tuple[list[str], list[Diagnostic]]:
    """The files that *paths* name, folders walked, and what is wrong with the paths."""
    return Files().specs(paths)


def load_each(
    names: Sequence[str], files: Files, chosen: Choices
) -> Iterator[tuple[list[Loaded], list[Diagnostic]]]:
    """The jobs of each file of *names* in turn, with what was found in it."""
    for name in names:
        jobs, found = load(name, files, chosen)
        yield jobs, [*found, *(each for job in jobs for each in job.diagnostics)]


def load_valid(
    paths: Sequence[str], files: Files, chosen: Choices, *, quiet: bool, no_color: bool = False
) -> list[Loaded]:
    """The jobs of *paths*; findings go to stderr, and an error ends the command."""
    names, found = find_specs(paths)
    jobs: list[Loaded] = []
    for loaded, faults in load_each(names, files, chosen):
        jobs += loaded
        found += faults
    tell(in_order(found), files.texts, quiet=quiet, no_color=no_color)
    return jobs


def tell(
    found: Sequence[Diagnostic], texts: Mapping[str, str], *, quiet: bool, no_color: bool = False
) -> None:
    """Write findings to stderr; an error ends the command."""
    shown = [each for each in found if each.is_error] if quiet else found
    if shown:
        sys.stderr.write(shown_on(sys.stderr, shown, texts, no_color=no_color))
    if has_errors(found):
        raise Stop(Exit.usage)


def shown_on(
    stream: TextIO, found: Sequence[Diagnostic], texts: Mapping[str, str], *, no_color: bool = False
) -> str:
    """Findings as *stream* takes them: with lines of the spec and hints on a terminal."""
    from paddlespec.report.text import diagnostics

    color = colored(stream, no_color=no_color)
    return diagnostics(found, texts, color=color, excerpts=stream.isatty())


def colored(stream: TextIO, *, no_color: bool = False) -> bool:
    """Whether to colour what goes to *stream*: only a terminal, unless told otherwise."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
