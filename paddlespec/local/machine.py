"""What this machine has: cores, memory, devices."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import TYPE_CHECKING

from paddlespec.capacity.holding import Holding
from paddlespec.local.resources import present

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NVIDIA = "nvidia.com/gpu"


def holdings(environment: Mapping[str, str] = os.environ) -> Iterator[Holding]:
    """
    What a rehearsal could have; the system counts no requests, so nothing of it is used or free.

    `allocatable` is what this process may take of it.
    """
    yield _row("cpu", os.cpu_count() or 1, _cores())
    if memory := _memory():
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


def _memory() -> int | None:
    """The memory in bytes; nothing where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
