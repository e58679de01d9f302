"""`validate`: every diagnostic of many specs."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.boundary import boundary, is_inside
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.parallel import spread
from paddlespec.cli.shared.session import find_specs, formatted, load_each
from paddlespec.diagnostic import has_errors, in_order
from paddlespec.pipeline import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.cli.shared.namesakes import Named
    from paddlespec.diagnostic import Diagnostic

_NONE = Choices()


class _Checked(NamedTuple):
    """What one process found in its share of the files."""

    jobs: list[Named]
    diagnostics: list[Diagnostic]
    texts: dict[str, str]


def validate(
    paths: Sequence[str],
    chosen: Choices = _NONE,
    output: str = "text",
    *,
    no_color: bool = False,
    quiet: bool = False,
) -> int:
    """Print every diagnostic of the specs at *paths*; exit with 1 on any error."""
    from paddlespec.cli.shared.namesakes import namesakes

    # Documents are trees without cycles, so the collector would find nothing.
    gc.disable()
    names, diagnostics = find_specs(paths, chosen)
    shares = spread(lambda share: _check(share, chosen), names)
    jobs = [job for share in shares for job in share.jobs]
    same = list(namesakes(jobs))
    diagnostics += [*same, *(found for share in shares for found in share.diagnostics)]
    diagnostics = in_order(diagnostics)
    if output == "text":
        from paddlespec.report import text

        texts = {name: content for share in shares for name, content in share.texts.items()}
        texts |= _texts(same, chosen)
        write.findings(sys.stdout, formatted(sys.stdout, diagnostics, texts, no_color=no_color))
        if not quiet:
            write.note(text.verdict(len(jobs), diagnostics))
    else:
        from paddlespec import report

        printed = write.commands if output == "github" else write.data
        shown = diagnostics if output == "json" else list(map(_from_root, diagnostics))
        printed(report.diagnostics(output, shown))
    return Exit.no if has_errors(diagnostics) else Exit.done


def _check(names: Sequence[str], chosen: Choices) -> _Checked:
    """Check one share of the files."""
    from paddlespec.cli.shared.namesakes import named

    files = chosen.files()
    jobs_named: list[Named] = []
    diagnostics: list[Diagnostic] = []
    for jobs, faults in load_each(names, files, chosen):
        jobs_named += map(named, jobs)
        diagnostics += faults
        for job in jobs:
            if job.is_valid and job.job.spec.patches:
                from paddlespec.pipeline import patch_faults
                from paddlespec.render.template import Templates

                diagnostics += patch_faults(job, Templates())
    return _Checked(jobs_named, diagnostics, files.excerpted(diagnostics))


def _from_root(diagnostic: Diagnostic) -> Diagnostic:
    """Name the file from the root of its repository, as services that scan code do."""
    file = diagnostic.span.file
    if file.startswith(("--", "<")):
        return diagnostic
    limit = boundary(os.path.dirname(file))
    name = os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))
    inside = limit.is_repository and is_inside(name, limit.top)
    path = os.path.relpath(name, limit.top) if inside else os.path.normpath(file)
    return diagnostic._replace(span=diagnostic.span._replace(file=path))


def _texts(diagnostics: Sequence[Diagnostic], chosen: Choices) -> dict[str, str]:
    """The texts of files in which no share found anything by itself."""
    files = chosen.files()
    for name in {found.span.file for found in diagnostics}:
        files.read(name)
    return files.excerpted(diagnostics)
