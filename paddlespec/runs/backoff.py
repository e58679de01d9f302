"""Pauses between polls of something that changes by itself."""

from __future__ import annotations

from itertools import chain, count, repeat, takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Backoff(NamedTuple):
    """
    Pauses in seconds that grow by a factor up to a cap.

    Fast changes are noticed at once, and long waits cost few requests.
    """

    first: float = 0.1
    factor: float = 1.3
    cap: float = 2.0

    def pauses(self) -> Iterator[float]:
        """Yield one pause after another, without end."""
        growing = (self.first * self.factor**number for number in count())
        return chain(takewhile(lambda pause: pause < self.cap, growing), repeat(self.cap))
