"""`validate` and `render`: what needs no cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from paddlespec.cli.exits import Exit, Stop
from paddlespec.cli.session import choices, colored, load_all, load_valid
from paddlespec.diagnostic import has_errors
from paddlespec.files import Files
from paddlespec.pipeline import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.pipeline import Built

_NONE = Choices()


def validate(
    paths: Sequence[str],
    chosen: Choices = _NONE,
    output: str = "text",
    *,
    no_color: bool = False,
    quiet: bool = False,
) -> int:
    """Report everything that is wrong with the specs of *paths*; the answer is no on any error."""
    files = Files()
    jobs, found = load_all(paths, files, chosen)
    if output == "text":
        from paddlespec.report import text

        color = colored(sys.stdout, no_color=no_color)
        sys.stdout.write(text.diagnostics(found, files.texts, color=color))
        if not quiet:
            sys.stderr.write(text.verdict(len(jobs), found) + "\n")
    else:
        from paddlespec import report

        sys.stdout.write(report.diagnostics(output, found))
    return Exit.no if has_errors(found) else Exit.done


def render(
    paths: Sequence[str],
    chosen: Choices = _NONE,
    output: str = "yaml",
    *,
    out: str | None = None,
    check: bool = False,
    templates: str | None = None,
    quiet: bool = False,
) -> int:
    """Write the manifests of the specs of *paths* to stdout or to a folder."""
    jobs = load_valid(paths, Files(), chosen, quiet=quiet)
    if output == "spec":
        from paddlespec.emit import dump, dump_all

        documents = [each.document.data for each in jobs]
        sys.stdout.write(dump(documents[0]) if len(documents) == 1 else dump_all(documents))
        return Exit.done
    from paddlespec.cli.build import build_all

    built = build_all(jobs, templates)
    if out is not None:
        return _to_folder(built, out, check=check)
    manifests = [each for job in built for each in job.manifests]
    if output == "json":
        import json

        listed = {"apiVersion": "v1", "kind": "List", "items": manifests}
        sys.stdout.write(json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    else:
        from paddlespec.emit import dump_all

        sys.stdout.write(dump_all(manifests))
    return Exit.done


def _to_folder(built: Sequence[Built], out: str, *, check: bool) -> int:
    from paddlespec.cli.folder import changes, write

    wanted = changes(built, out)
    if check:
        for each in wanted:
            sys.stdout.write(f"{each.verb} {each.path}\n")
        return Exit.no if wanted else Exit.done
    write(wanted)
    sys.stderr.write(f"{out}: {len(wanted)} files written or removed\n")
    return Exit.done


__all__ = ["Stop", "choices", "render", "validate"]
