"""`validate` and `render`: what needs no cluster."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.cli.exits import Exit
from paddlespec.cli.parallel import spread
from paddlespec.cli.session import find_specs, load_each, shown_on, tell
from paddlespec.diagnostic import has_errors, in_order
from paddlespec.files import Files
from paddlespec.pipeline import Choices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.cli.namesakes import Named
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.pipeline import Loaded

_NONE = Choices()


class _Checked(NamedTuple):
    """What one process found in its share of the files."""

    jobs: list[Named]
    found: list[Diagnostic]
    texts: dict[str, str]


def validate(
    paths: Sequence[str],
    chosen: Choices = _NONE,
    output: str = "text",
    *,
    no_color: bool = False,
    quiet: bool = False,
) -> int:
    """Report everything that is wrong with the specs of *paths*; the answer is no on any error."""
    from paddlespec.cli.namesakes import named, namesakes

    # Documents are trees without cycles: what the collector would look for is not there.
    gc.disable()

    def check(names: Sequence[str]) -> _Checked:
        files = Files()
        called: list[Named] = []
        found: list[Diagnostic] = []
        for jobs, faults in load_each(names, files, chosen):
            called += map(named, jobs)
            found += faults
            for job in jobs:
                if job.is_valid and job.job.spec.patches:
                    from paddlespec.pipeline import patch_faults
                    from paddlespec.template import Templates

                    found += patch_faults(job, Templates())
        return _Checked(called, found, files.excerpted(found))

    names, found = find_specs(paths)
    shares = spread(check, names)
    jobs = [each for share in shares for each in share.jobs]
    same = list(namesakes(jobs))
    found = in_order([*found, *same, *(each for share in shares for each in share.found)])
    if output == "text":
        from paddlespec.report import text

        texts = {name: content for share in shares for name, content in share.texts.items()}
        texts |= _texts(same)
        sys.stdout.write(shown_on(sys.stdout, found, texts, no_color=no_color))
        if not quiet:
            sys.stderr.write(text.verdict(len(jobs), found) + "\n")
    else:
        from paddlespec import report

        sys.stdout.write(report.diagnostics(output, found))
    return Exit.no if has_errors(found) else Exit.done


def _texts(found: Sequence[Diagnostic]) -> dict[str, str]:
    """The texts of files in which one share alone found nothing."""
    files = Files()
    for name in {each.span.file for each in found}:
        files.read(name)
    return files.excerpted(found)


class _Rendered(NamedTuple):
    """What one process made of its share of the files; nothing when there were errors."""

    text: str
    found: list[Diagnostic]
    texts: dict[str, str]


def render(
    paths: Sequence[str],
    chosen: Choices = _NONE,
    output: str = "yaml",
    *,
    templates: str | None = None,
    no_color: bool = False,
    quiet: bool = False,
) -> int:
    """Write the manifests of the specs of *paths* to stdout: all of them, or none."""
    gc.disable()

    def make(names: Sequence[str]) -> _Rendered:
        files = Files()
        write = _writer(output, templates)
        parts: list[str] = []
        found: list[Diagnostic] = []
        for jobs, faults in load_each(names, files, chosen):
            found += faults
            if not has_errors(found):
                parts += map(write, jobs)
        text = "" if has_errors(found) else "".join(parts)
        return _Rendered(text, found, files.excerpted(found))

    names, found = find_specs(paths)
    shares = spread(make, names)
    found = in_order([*found, *(each for share in shares for each in share.found)])
    texts = {name: text for each in shares for name, text in each.texts.items()}
    tell(found, texts, quiet=quiet, no_color=no_color)
    if output == "json":
        items = "".join(each.text for each in shares).removesuffix(",\n")
        sys.stdout.write(f'{{"apiVersion": "v1", "kind": "List", "items": [\n{items}\n]}}\n')
    else:
        sys.stdout.writelines(each.text for each in shares)
    return Exit.done


def _writer(output: str, templates: str | None) -> Callable[[Loaded], str]:
    """How one job becomes its part of the output."""
    from paddlespec.emit import dump_all

    if output == "spec":
        return lambda job: dump_all([_as_written(job.document.data)])
    from paddlespec.cli.build import builder

    manifests = builder(templates)
    if output == "yaml":
        return lambda job: dump_all(manifests(job))
    import json

    return lambda job: "".join(
        json.dumps(each, indent=2, ensure_ascii=False) + ",\n" for each in manifests(job)
    )


def _as_written(spec: dict[str, Any]) -> dict[str, Any]:
    """The effective spec in the order in which people write specs, whatever layer came first."""
    order = ("apiVersion", "kind", "metadata", "spec")
    return {key: spec[key] for key in order if key in spec} | spec


def render_to_folder(
    paths: Sequence[str],
    chosen: Choices,
    out: str,
    *,
    check: bool = False,
    templates: str | None = None,
    no_color: bool = False,
    quiet: bool = False,
) -> int:
    """Make the folder *out* hold exactly the manifests of *paths*, or say where it does not."""
    from paddlespec.cli.build import build_all
    from paddlespec.cli.folder import changes, write
    from paddlespec.cli.session import load_valid

    jobs = load_valid(paths, Files(), chosen, quiet=quiet, no_color=no_color)
    built = build_all(jobs, templates)
    wanted = changes(built, out)
    if check:
        sys.stdout.writelines(f"{each.verb} {each.path}\n" for each in wanted)
        return Exit.no if wanted else Exit.done
    write(wanted)
    if not quiet:
        files = "file" if len(wanted) == 1 else "files"
        sys.stderr.write(f"{out}: {len(wanted)} {files} written or removed\n")
    return Exit.done
