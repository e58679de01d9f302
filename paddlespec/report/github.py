"""Print findings as annotations of a GitHub workflow, shown at their lines in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic

_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
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
    return f"::{diagnostic.severity.value} {listed}::{_utf8(message).translate(_MESSAGE)}"


def _escaped(value: object) -> str:
    return _utf8(str(value)).translate(_PROPERTY)


def _utf8(text: str) -> str:
    """Replace surrogates, which stand for undecodable bytes in file names."""
    return text.encode("utf-8", "replace").decode("utf-8")
