"""What the pipeline finds in a text, as people are told."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from paddlespec import pipeline
from paddlespec.diagnostic import Diagnostic, InvalidSpec, in_order
from paddlespec.files import Files
from paddlespec.pipeline import Choices
from paddlespec.template import Templates

if TYPE_CHECKING:
    from pathlib import Path

_LATIN = "# saved as latin-1"
_OVERLAY = "apiVersion: paddlespec.io/v1\nkind: Overlay\n"


def options(text: str) -> Choices:
    """The options that a comment in the first line names."""
    first = text.partition("\n")[0]
    words = shlex.split(first.lstrip("# ")) if first.startswith("# --") else []
    given = dict(zip(words[::2], words[1::2]))
    return Choices(
        overlays=tuple(filter(None, [given.get("--overlay")])),
        profile=given.get("--profile"),
        updates=tuple(filter(None, [given.get("--update")])),
        target=given.get("--target"),
        datacenter=given.get("--datacenter"),
    )


def find(file: str, choices: Choices) -> list[Diagnostic]:
    """Everything that is wrong with *file*; patches show it only in what is rendered."""
    jobs, found = pipeline.load(file, Files(), choices)
    for job in jobs:
        found += job.diagnostics
        if job.is_valid:
            try:
                pipeline.build(job, Templates())
            except InvalidSpec as error:
                found += error.diagnostics
    return in_order(found)


def of_example(base: str, text: str, folder: Path) -> list[Diagnostic]:
    """What an example of the documentation shows when it is laid over the spec *base*."""
    choices = options(text)
    (folder / "paddlejob.yaml").write_text(base, encoding="utf-8")
    encoding = "latin-1" if text.startswith(_LATIN) else "utf-8"
    (folder / "example.yaml").write_text(text + _OVERLAY, encoding=encoding)
    return find("paddlejob.yaml", choices._replace(overlays=("example.yaml", *choices.overlays)))


def told(found: list[Diagnostic]) -> str:
    """Findings with their hints, as golden files hold them."""
    lines = []
    for each in found:
        lines.append(str(each))
        lines += [f"    {each.hint}"] if each.hint else []
    return "".join(f"{line}\n" for line in lines)
