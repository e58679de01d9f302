"""The resources of a replica as limits of a process: threads, memory, devices."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.capacity.device import is_accelerator
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.render.manifest import Manifest

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_NVIDIA = "nvidia.com/"


class Devices(NamedTuple):
    """The devices visible to each process, by process name, and what is missing."""

    visible: dict[str, str]
    faults: tuple[str, ...] = ()


def threads(process: Manifest) -> dict[str, str]:
    """Return how many threads computing libraries start: one for each requested core."""
    cores = _amounts(process, "requests").get("cpu")
    count = max(1, ceil(quantity(cores))) if cores else 1
    return dict.fromkeys(THREADS, str(count))


def memory(process: Manifest) -> int | None:
    """Return the memory limit in bytes."""
    amount = _amounts(process, "limits").get("memory")
    return int(quantity(amount)) if amount else None


def devices(processes: Sequence[Manifest], present: Sequence[str], *, cpu_only: bool) -> Devices:
    """Give each process as many devices of its own as it requests."""
    requested = {process["metadata"]["name"]: _accelerators(process) for process in processes}
    if cpu_only or not any(requested.values()):
        # A pod that requests none sees none.
        none = cpu_only or bool(present)
        return Devices(dict.fromkeys(requested, "") if none else {})
    visible: dict[str, str] = {}
    left = list(present)
    short = 0
    for name, asked in requested.items():
        count = sum(number for kind, number in asked.items() if kind.startswith(_NVIDIA))
        other = sum(asked.values()) - count
        short += other + max(0, count - len(left))
        visible[name] = ",".join(left[:count])
        del left[:count]
    if short:
        return Devices({}, (_shortage(processes, requested, present),))
    return Devices(visible)


def _accelerators(process: Manifest) -> dict[str, int]:
    requested = _amounts(process, "limits")
    return {
        name: int(quantity(number)) for name, number in requested.items() if is_accelerator(name)
    }


def _amounts(process: Manifest, kind: str) -> dict[str, str]:
    amounts: dict[str, str] = (process["spec"].get("resources") or {}).get(kind) or {}
    return amounts


def _shortage(
    processes: Sequence[Manifest],
    requested: Mapping[str, dict[str, int]],
    present: Sequence[str],
) -> str:
    first = next(process for process in processes if requested[process["metadata"]["name"]])
    name, number = next(iter(requested[first["metadata"]["name"]].items()))
    role = first["metadata"]["name"].rpartition("-")[0].rpartition("-")[2]
    total = sum(sum(devices.values()) for devices in requested.values())
    in_total = f" ({total} in total)" if total > number else ""
    return (
        f"the job requests {number} {name} per {role}{in_total}, and this machine has "
        f"{len(present) or 'none'}: add --cpu-only, or use a profile that requests less"
    )
