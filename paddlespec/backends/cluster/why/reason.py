"""The result of a rule: a cause, and the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.why.evidence import Evidence

    Rule = Callable[[Evidence], "Reason | None"]

_MAX_LINES = 4


class Reason(NamedTuple):
    """A cause in one sentence; each line of `evidence` can be verified in the cluster."""

    sentence: str
    evidence: tuple[str, ...] = ()


def some(lines: list[str]) -> tuple[str, ...]:
    """Return the first few lines, and how many more there are."""
    more = len(lines) - _MAX_LINES
    return (*lines[:_MAX_LINES], *([f"and {more} more"] if more > 0 else []))
