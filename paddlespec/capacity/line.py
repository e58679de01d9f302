"""One line of an account: what something allows of a resource, and whether what is wanted fits."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


# The name of a line about all of a kind.
EVERY = "*"


class Line(NamedTuple):
    """
    What *name* allows of *resource*: `hard` in all, of which `used` is taken and `free` is left.

    With `need`, how much is `short`. `fits` is None where nobody may look, or nothing was asked.
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
    """What could not be looked at, and why."""

    what: str
    reason: str


def left(hard: Decimal | None, used: Decimal | None) -> Decimal | None:
    """What is free; never below zero."""
    return None if hard is None or used is None else max(Decimal(0), hard - used)


def asked(line: Line, need: Decimal) -> Line:
    """*line* when *need* is asked of what is free; who asks for nothing fits everywhere."""
    if not need:
        return line._replace(need=need, short=Decimal(0), fits=True)
    if line.free is None:
        return line._replace(need=need)
    short = max(Decimal(0), need - line.free)
    return line._replace(need=need, short=short, fits=not short)


def verdict(lines: Iterable[Line]) -> bool | None:
    """Whether all of it fits; None where nothing is short, but something is not known."""
    found = {each.fits for each in lines}
    return False if False in found else None if None in found else True
