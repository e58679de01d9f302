"""One limit on a resource, what is left of it, and whether a job fits."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


# The name of a line about all objects of a kind.
EVERY = "*"


class Line(NamedTuple):
    """
    What *name* allows of *resource*: `hard` in total, of which `used` is taken and `free` is left.

    With a `need`, `short` is what is missing. `fits` is None if there is no need or if the limit
    cannot be read.
    """

    kind: str
    name: str
    resource: str | None
    used: Decimal | None = None
    hard: Decimal | None = None
    free: Decimal | None = None
    need: Decimal | None = None
    short: Decimal | None = None
    fits: bool | None = None
    reason: str | None = None
    namespace: str | None = None


class Unknown(NamedTuple):
    """Something that could not be read, and why."""

    what: str
    reason: str


def left(hard: Decimal | None, used: Decimal | None) -> Decimal | None:
    """Return what is free; never below zero."""
    return None if hard is None or used is None else max(Decimal(0), hard - used)


def with_need(line: Line, need: Decimal) -> Line:
    """Compare *need* with what is free; a need of zero always fits."""
    if not need:
        return line._replace(need=need, short=Decimal(0), fits=True)
    if line.free is None:
        return line._replace(need=need)
    short = max(Decimal(0), need - line.free)
    return line._replace(need=need, short=short, fits=not short)


def verdict(lines: Iterable[Line]) -> bool | None:
    """Report whether all lines fit; None if nothing is short but something is unknown."""
    results = {line.fits for line in lines}
    return False if False in results else None if None in results else True
