"""The user's code: which files travel with a job, as which bytes, and how."""

from __future__ import annotations

from typing import NamedTuple

from paddlespec.diagnostic import Severity


class PackageFault(NamedTuple):
    """What is wrong with a package; the caller knows where the spec names it."""

    message: str
    hint: str | None = None
    severity: Severity = Severity.error
