"""The user's code: which files a package contains, and how it is delivered."""

from __future__ import annotations

from typing import NamedTuple

from paddlespec.diagnostic import Severity


class PackageFault(NamedTuple):
    """A problem of a package, at the field *at* of `spec.package`."""

    message: str
    hint: str | None = None
    severity: Severity = Severity.error
    at: str = "path"
