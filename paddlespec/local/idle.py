"""
Whether processes still do something.

Peers of a replica that ended too early wait for it for ever: they log nothing new, and compute
nothing. Less than a hundredth of a processor counts as nothing.
"""

from __future__ import annotations

import time

from paddlespec.local import tree

_BUSY = 0.01
_SHORTEST = 0.5


class Idle:
    """The time that a set of processes has been idle, looked at often enough within *limit*."""

    def __init__(self, limit: float) -> None:
        self._window = max(_SHORTEST, min(10.0, limit / 5))
        self._pids: list[int] = []
        self._quiet_since = self._looked = 0.0
        self._cpu: float | None = None

    def since(self, pids: list[int]) -> float | None:
        """For how many seconds all of *pids* have been idle; nothing where that is not known."""
        here = time.monotonic()
        if pids != self._pids:
            self._pids, self._looked, self._quiet_since = list(pids), here, here
            self._cpu = _cpu(pids)
        elif here - self._looked >= self._window:
            used, self._cpu = self._cpu, _cpu(pids)
            if used is None or self._cpu is None:
                return None
            if self._cpu - used > _BUSY * (here - self._looked):
                self._quiet_since = here
            self._looked = here
        return here - self._quiet_since if self._cpu is not None else None


def _cpu(pids: list[int]) -> float | None:
    found = [each for each in map(tree.cpu_seconds, pids) if each is not None]
    return sum(found) if found else None
