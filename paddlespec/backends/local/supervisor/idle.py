"""
Detect idle processes.

Peers of a replica that ended too early wait for it forever and compute nothing. Less than a
hundredth of a core counts as idle.
"""

from __future__ import annotations

import time

from paddlespec.backends.local.machine import process_tree

_BUSY = 0.01
_SHORTEST = 0.5


class Idle:
    """How long a set of processes has been idle; measured several times within *limit* seconds."""

    def __init__(self, limit: float) -> None:
        self._window = max(_SHORTEST, min(10.0, limit / 5))
        self._pids: list[int] = []
        self._quiet_since = self._looked = 0.0
        self._cpu: float | None = None

    def since(self, pids: list[int]) -> float | None:
        """Return for how many seconds all of *pids* have been idle; None if unknown."""
        here = time.monotonic()
        if pids != self._pids:
            self._pids, self._looked, self._quiet_since = list(pids), here, here
            self._cpu = process_tree.cpu_seconds(pids)
        elif here - self._looked >= self._window:
            used, self._cpu = self._cpu, process_tree.cpu_seconds(pids)
            if used is None or self._cpu is None:
                return None
            if self._cpu - used > _BUSY * (here - self._looked):
                self._quiet_since = here
            self._looked = here
        return here - self._quiet_since if self._cpu is not None else None
