"""Findings as annotations of a GitHub workflow: they appear at their lines in the pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic

_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def diagnostics(found: Sequence[Diagnostic]) -> str:
    """One workflow command per finding."""
    return "".join(f"{_command(each)}\n" for each in found)


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
    """*text* without the stand-ins for bytes that are no text, as file names may hold them."""
    return text.encode("utf-8", "replace").decode("utf-8")
