"""What people and machines get to read: findings, previews, origins."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic

_FORMATS = {"json": "machine", "github": "github", "sarif": "sarif"}


def diagnostics(format: str, found: Sequence[Diagnostic]) -> str:  # noqa: A002 - the option's name
    """*found* in one of the forms for machines: `json`, `github`, `sarif`."""
    from paddlespec.report.mask import told

    written: str = import_module(f"paddlespec.report.{_FORMATS[format]}").diagnostics(
        [told(each) for each in found]
    )
    return written
