"""`render`: manifests to stdout, or to a folder."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.checks.secrets import has_sensitive
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.parallel import spread
from paddlespec.cli.shared.session import find_specs, load_each, report
from paddlespec.diagnostic import has_errors, in_order
from paddlespec.pipeline import Choices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.diagnostic import Diagnostic
    from paddlespec.pipeline import Loaded

_NONE = Choices()
_IN_CLEAR = "manifests hold credentials in plain text; review them with --preview, which hides them"


class _Rendered(NamedTuple):
    """What one process rendered of its share of the files; nothing if there are errors."""

    text: str
    diagnostics: list[Diagnostic]
    texts: dict[str, str]
    has_secrets: bool = False


def render(
    paths: Sequence[str],
    chosen: Choices = _NONE,
    output: str = "yaml",
    *,
    templates: str | None = None,
    no_color: bool = False,
    quiet: bool = False,
) -> int:
    """Print the manifests of the specs at *paths*: all of them, or none."""
    gc.disable()

    def make(names: Sequence[str]) -> _Rendered:
        files = chosen.files()
        form = _writer(output, templates, chosen.allowed)
        parts: list[str] = []
        has_secrets = False
        diagnostics: list[Diagnostic] = []
        for jobs, faults in load_each(names, files, chosen):
            diagnostics += faults
            if not has_errors(diagnostics):
                parts += map(form, jobs)
            has_secrets = has_secrets or any(has_sensitive(loaded.job) for loaded in jobs)
        text = "" if has_errors(diagnostics) else "".join(parts)
        return _Rendered(text, diagnostics, files.excerpted(diagnostics), has_secrets)

    names, diagnostics = find_specs(paths, chosen)
    shares = spread(make, names)
    diagnostics += (found for share in shares for found in share.diagnostics)
    texts = {name: text for share in shares for name, text in share.texts.items()}
    report(in_order(diagnostics), texts, quiet=quiet, no_color=no_color)
    if (
        output != "spec"
        and not quiet
        and (
            any(share.has_secrets for share in shares)
            or any(found.code == "looks-like-secret" for found in diagnostics)
        )
    ):
        write.note(_IN_CLEAR)
    if output == "json":
        items = "".join(share.text for share in shares).removesuffix(",\n")
        write.data(f'{{"apiVersion": "v1", "kind": "List", "items": [\n{items}\n]}}\n')
    else:
        write.data("".join(share.text for share in shares))
    return Exit.done


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
    """Make the folder *out* hold exactly the manifests of *paths*; with *check*, only compare."""
    from paddlespec.cli.shared import manifest_folder
    from paddlespec.cli.shared.build import build_all
    from paddlespec.cli.shared.session import load_valid

    jobs = load_valid(paths, chosen.files(), chosen, quiet=quiet, no_color=no_color)
    files = manifest_folder.changes(build_all(jobs, templates, chosen.allowed), out, chosen.allowed)
    if check:
        write.lines(f"{file.verb} {file.path}" for file in files)
        return Exit.no if files else Exit.done
    manifest_folder.write(files)
    if not quiet:
        noun = "file" if len(files) == 1 else "files"
        write.note(f"{out}: {len(files)} {noun} written or removed")
    return Exit.done


def _writer(
    output: str, templates: str | None, allowed: tuple[str, ...]
) -> Callable[[Loaded], str]:
    """A function from a job to its part of the output."""
    from paddlespec.spec.emit import dump_all

    if output == "spec":
        from paddlespec.report.mask import effective_spec

        return lambda job: f"---\n{effective_spec(job)}"
    from paddlespec.cli.shared.build import builder

    manifests = builder(templates, allowed)
    if output == "yaml":
        return lambda job: dump_all(manifests(job))
    import json

    return lambda job: "".join(
        json.dumps(manifest, indent=2, ensure_ascii=False) + ",\n" for manifest in manifests(job)
    )
