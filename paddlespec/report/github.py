"""Print findings as annotations of a GitHub workflow, shown at their lines in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.report.width import REPLACEMENT, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic

_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_BREAKS = frozenset("\r\n")
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def diagnostics(findings: Sequence[Diagnostic]) -> str:
    """Print one workflow command per finding."""
    return "".join(f"{_command(finding)}\n" for finding in findings)


def _command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    message = diagnostic.message
    properties: dict[str, object] = {}
    if span.file.startswith("--"):
        message = f"{span.file}: {message}"
    else:
        properties["file"] = span.file
    if span.line:
        properties |= {"line": span.line, "col": span.column, "endColumn": span.end_column}
    properties["title"] = diagnostic.code
    if diagnostic.hint:
        message += f"\n{diagnostic.hint}"
    listed = ",".join(f"{key}={_escaped(value)}" for key, value in properties.items())
    return f"::{diagnostic.severity.value} {listed}::{_clean(message).translate(_MESSAGE)}"


def _escaped(value: object) -> str:
    return _clean(str(value)).translate(_PROPERTY)


def _clean(text: str) -> str:
    """Replace controls and undecodable bytes; the runner decodes breaks of lines only."""
    shown = "".join(char if char in _BREAKS else plain(char) for char in text)
    return shown.replace("##[", f"##{REPLACEMENT}[")
