"""Whether the mode and the roles of a job agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts


@reads("spec.mode", "spec.pservers")
def mode_and_pservers(facts: Facts) -> Iterator[Diagnostic]:
    """Parameter servers belong to the modes ps and legacy, and these need them."""
    spec = facts.job.spec
    if spec.mode in ("ps", "legacy") and spec.pservers is None:
        span = facts.document.locate(("spec", "mode"))
        hint = "add `pservers: {replicas: 1}`"
        message = f"mode {spec.mode} needs pservers"
        yield Diagnostic("mode-roles", message, span, ("spec", "mode"), hint)
    if spec.mode in ("collective", "parallel") and spec.pservers is not None:
        path = ("spec", "pservers")
        message = f"mode {spec.mode} has no pservers"
        hint = "remove them, or write `mode: ps`"
        yield Diagnostic("mode-roles", message, facts.document.locate_key(path), path, hint)
