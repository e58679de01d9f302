"""Findings as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic


def diagnostics(found: Sequence[Diagnostic]) -> str:
    """
    One object: the findings, and how many there are of each severity.

    Lines and columns count from 1, `endColumn` is the first after the stretch; all are null where
    the finding is about an option or a file as a whole.
    """
    errors = sum(each.is_error for each in found)
    listed = {
        "diagnostics": [_finding(each) for each in found],
        "errors": errors,
        "warnings": len(found) - errors,
    }
    return json.dumps(listed, indent=2) + "\n"


def _finding(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": span.file,
        "line": span.line or None,
        "column": span.column or None,
        "endColumn": span.end_column or None,
        "path": dotted(diagnostic.path) if diagnostic.path else None,
        "hint": diagnostic.hint,
    }
