"""Print results for people and for machines: findings, previews, comparisons, tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic

_FORMATS = {"json": "machine", "github": "github", "sarif": "sarif"}


def diagnostics(format: str, findings: Sequence[Diagnostic]) -> str:  # noqa: A002 - the option's name
    """Print *findings* in a machine-readable format: `json`, `github` or `sarif`."""
    from paddlespec.report.mask import redacted

    written: str = import_module(f"paddlespec.report.{_FORMATS[format]}").diagnostics(
        [redacted(finding) for finding in findings]
    )
    return written
