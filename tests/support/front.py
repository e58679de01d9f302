"""Helpers for the front of the pipeline: YAML in, diagnostics as short lines out."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Diagnostic, InvalidSpec, in_order
from paddlespec.spec import gate, source, update
from paddlespec.spec.document import Document, remove
from paddlespec.spec.interpolate import interpolate
from paddlespec.spec.layer import merge, settle

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
"""The shortest valid job; tests append their fields from line 7 on."""


def document(text: str, name: str = "job.yaml", layer: str = "spec") -> Document:
    """Parse a valid text with one document."""
    reading = source.read(dedent(text), name, layer)
    assert reading.diagnostics == []
    (parsed,) = reading.documents
    return parsed


def data(text: str) -> Any:
    """Parse a valid text to data."""
    return document(text).data


def merged(*texts: str) -> Any:
    """Merge several layers, lowest first."""
    return settle(merge(document(text) for text in texts)).data


def findings(text: str, updates: Sequence[str] = ()) -> list[Diagnostic]:
    """Return the diagnostics of parsing, both schemas and interpolation."""
    reading = source.read(text, "job.yaml")
    diagnostics = list(reading.diagnostics)
    for document in reading.documents:
        diagnostics += gate.check(document, gate.SOURCE).diagnostics
        whole = document
        for option in updates:
            try:
                whole = update.apply(whole, update.parse(option))
            except InvalidSpec as error:
                diagnostics += error.diagnostics
        whole = settle(whole)
        if isinstance(whole.data, dict):
            whole = Document(remove(whole.data, {("profiles",)}), whole.place)
        done = interpolate(whole)
        diagnostics += done.diagnostics
        diagnostics += [
            finding
            for finding in gate.check(done.document, gate.EFFECTIVE).diagnostics
            if finding.path not in done.unresolved
        ]
    return in_order(diagnostics)


def problems(text: str, updates: Sequence[str] = ()) -> list[str]:
    """Return the diagnostics of one file as `line:column code`."""
    return brief(findings(text, updates))


def brief(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Format diagnostics as `line:column code`, or `option code`."""
    return [
        f"{diagnostic.span.line}:{diagnostic.span.column} {diagnostic.code}"
        if diagnostic.span.line
        else f"{diagnostic.span.file} {diagnostic.code}"
        for diagnostic in diagnostics
    ]
