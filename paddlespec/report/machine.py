"""Print findings as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from paddlespec.diagnostic import dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic
    from paddlespec.shapes.findings import Finding, Findings


def diagnostics(findings: Sequence[Diagnostic]) -> str:
    """Print one object: the findings, and the number of each severity."""
    errors = sum(finding.is_error for finding in findings)
    listed: Findings = {
        "diagnostics": [_finding(finding) for finding in findings],
        "errors": errors,
        "warnings": len(findings) - errors,
    }
    return json.dumps(listed, indent=2) + "\n"


def _finding(diagnostic: Diagnostic) -> Finding:
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
