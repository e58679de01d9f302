"""Cores, memory and devices of this machine."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import TYPE_CHECKING

from paddlespec.backends.local.machine.devices import present
from paddlespec.capacity.holding import Holding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NVIDIA = "nvidia.com/gpu"


def holdings(environment: Mapping[str, str] = os.environ) -> Iterator[Holding]:
    """
    List what a rehearsal could use; nothing counts as used, because requests are not tracked.

    `allocatable` is what this process may use.
    """
    import psutil

    memory = psutil.virtual_memory().total
    yield _row("cpu", os.cpu_count() or 1, _cores())
    yield _row("memory", memory, memory)
    everything, chosen = present({}), present(environment)
    if everything:
        yield _row(_NVIDIA, len(everything), len(chosen))


def _row(resource: str, capacity: int, allocatable: int) -> Holding:
    amounts = Decimal(capacity), Decimal(allocatable)
    return Holding("machine", "this machine", resource, *amounts)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
