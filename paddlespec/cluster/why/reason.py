"""What a rule finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cluster.why.evidence import Evidence

    Rule = Callable[[Evidence], "Reason | None"]

_SHOWN = 4


class Reason(NamedTuple):
    """A cause in one sentence; each line of `evidence` is something that anybody can look up."""

    sentence: str
    evidence: tuple[str, ...] = ()


def some(lines: list[str]) -> tuple[str, ...]:
    """The first of many lines, and how many more there are."""
    more = len(lines) - _SHOWN
    return (*lines[:_SHOWN], *([f"and {more} more"] if more > 0 else []))
