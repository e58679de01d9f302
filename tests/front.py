"""The front of the pipeline as a test speaks of it: YAML in, findings as short lines out."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from paddlespec import gate, source, update
from paddlespec.diagnostic import Diagnostic, InvalidSpec, in_order
from paddlespec.document import Document, remove
from paddlespec.interpolate import interpolate
from paddlespec.layer import merge, settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

JOB = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec:
  mode: collective
  image: x
"""
"""The shortest job; what a test is about goes below it, from line 7 on."""


def document(text: str, name: str = "job.yaml", layer: str = "spec") -> Document:
    """The one document of a text that can be read."""
    reading = source.read(dedent(text), name, layer)
    assert reading.diagnostics == []
    (found,) = reading.documents
    return found


def data(text: str) -> Any:
    """The values of a text that can be read."""
    return document(text).data


def merged(*texts: str) -> Any:
    """The values of several layers, lowest first."""
    return settle(merge(document(each) for each in texts)).data


def findings(text: str, updates: Sequence[str] = ()) -> list[Diagnostic]:
    """Everything that reading, both gates and interpolation find in one file."""
    reading = source.read(text, "job.yaml")
    found = list(reading.diagnostics)
    for each in reading.documents:
        found += gate.check(each, gate.SOURCE).diagnostics
        whole = each
        for option in updates:
            try:
                whole = update.apply(whole, update.parse(option))
            except InvalidSpec as error:
                found += error.diagnostics
        whole = settle(whole)
        if isinstance(whole.data, dict):
            whole = Document(remove(whole.data, {("profiles",)}), whole.place)
        done = interpolate(whole)
        found += done.diagnostics
        found += [
            finding
            for finding in gate.check(done.document, gate.EFFECTIVE).diagnostics
            if finding.path not in done.unresolved
        ]
    return in_order(found)


def problems(text: str, updates: Sequence[str] = ()) -> list[str]:
    """The findings of one file as `line:column code`."""
    return brief(findings(text, updates))


def brief(found: Iterable[Diagnostic]) -> list[str]:
    """Findings as `line:column code`; those of an option as `option code`."""
    return [
        f"{each.span.line}:{each.span.column} {each.code}"
        if each.span.line
        else f"{each.span.file} {each.code}"
        for each in found
    ]
