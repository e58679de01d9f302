"""The diagnostics of a text, as people see them."""

from __future__ import annotations

import shlex
from pathlib import Path

from paddlespec import pipeline
from paddlespec.diagnostic import Diagnostic, InvalidSpec, in_order
from paddlespec.pipeline import Choices
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

# An unpacked source archive is no repository.
HERE = str(Path(__file__).parent)
_LATIN = "# saved as latin-1"
_BESIDE = "# with a file "
_OVERLAY = "apiVersion: paddlespec.io/v1\nkind: Overlay\n"


def options(text: str) -> Choices:
    """Parse the options in the comment of the first line."""
    first = text.partition("\n")[0]
    words = shlex.split(first.lstrip("# ")) if first.startswith("# --") else []
    values = dict(zip(words[::2], words[1::2]))
    return Choices(
        overlays=tuple(filter(None, [values.get("--overlay")])),
        profile=values.get("--profile"),
        updates=tuple(filter(None, [values.get("--update")])),
        target=values.get("--target"),
        datacenter=values.get("--datacenter"),
    )


def find(file: str, choices: Choices) -> list[Diagnostic]:
    """Return all diagnostics of *file*, including those of rendering and patches."""
    jobs, diagnostics = pipeline.load(file, Files(allowed=(HERE,)), choices)
    for job in jobs:
        diagnostics += job.diagnostics
        if job.is_valid:
            try:
                pipeline.build(job, Templates())
            except InvalidSpec as error:
                diagnostics += error.diagnostics
    return in_order(diagnostics)


def of_example(base: str, text: str, folder: Path) -> list[Diagnostic]:
    """Return the diagnostics of a documented example, merged into the spec *base*."""
    choices = options(text)
    first = text.partition("\n")[0]
    if first.startswith(_BESIDE):
        for name in first.removeprefix(_BESIDE).split(" and "):
            (folder / name).write_text("", encoding="utf-8")
    (folder / "paddlejob.yaml").write_text(base, encoding="utf-8")
    encoding = "latin-1" if text.startswith(_LATIN) else "utf-8"
    (folder / "example.yaml").write_text(text + _OVERLAY, encoding=encoding)
    return find("paddlejob.yaml", choices._replace(overlays=("example.yaml", *choices.overlays)))


def formatted(diagnostics: list[Diagnostic]) -> str:
    """Format diagnostics with their hints, as in golden files."""
    lines = []
    for diagnostic in diagnostics:
        lines.append(str(diagnostic))
        lines += [f"    {diagnostic.hint}"] if diagnostic.hint else []
    return "".join(f"{line}\n" for line in lines)
