"""What a replica asks for, as a process can have it: threads, memory, devices."""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.manifest import Manifest

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
VISIBLE = "CUDA_VISIBLE_DEVICES"
_NVIDIA = "nvidia.com/"


class Devices(NamedTuple):
    """Which devices each process sees, by its name, and what cannot be had."""

    visible: dict[str, str]
    faults: tuple[str, ...] = ()


def threads(process: Manifest) -> dict[str, str]:
    """How many threads computing libraries start: as many as there would be cores."""
    cores = process["spec"].get("resources", {}).get("cpu")
    count = max(1, ceil(quantity(cores))) if cores else 1
    return dict.fromkeys(THREADS, str(count))


def memory(process: Manifest) -> int | None:
    """The limit in bytes."""
    amount = process["spec"].get("resources", {}).get("memory")
    return int(quantity(amount)) if amount else None


def present(shell: Mapping[str, str]) -> list[str]:
    """The devices that the user may use."""
    import os

    try:
        names = os.listdir("/dev")
    except OSError:
        names = []
    found = sorted(
        (match[1] for name in names if (match := re.fullmatch(r"nvidia([0-9]+)", name))), key=int
    )
    if VISIBLE not in shell:
        return found
    chosen = [each.strip() for each in shell[VISIBLE].split(",") if each.strip()]
    return chosen if found else []


def devices(processes: Sequence[Manifest], found: Sequence[str], *, cpu_only: bool) -> Devices:
    """Give each process devices of its own, as many as it asks for."""
    wanted = {each["metadata"]["name"]: _accelerators(each) for each in processes}
    if cpu_only or not any(wanted.values()):
        # A pod that asks for none sees none.
        none = cpu_only or bool(found)
        return Devices(dict.fromkeys(wanted, "") if none else {})
    visible: dict[str, str] = {}
    left = list(found)
    short = 0
    for name, asked in wanted.items():
        count = sum(number for kind, number in asked.items() if kind.startswith(_NVIDIA))
        other = sum(asked.values()) - count
        short += other + max(0, count - len(left))
        visible[name] = ",".join(left[:count])
        del left[:count]
    if short:
        return Devices({}, (_told(processes, wanted, found),))
    return Devices(visible)


def _accelerators(process: Manifest) -> dict[str, int]:
    asked = process["spec"].get("resources", {})
    return {name: int(quantity(number)) for name, number in asked.items() if "/" in name}


def _told(
    processes: Sequence[Manifest], wanted: Mapping[str, dict[str, int]], found: Sequence[str]
) -> str:
    first = next(each for each in processes if wanted[each["metadata"]["name"]])
    name, number = next(iter(wanted[first["metadata"]["name"]].items()))
    role = first["metadata"]["name"].rpartition("-")[0].rpartition("-")[2]
    total = sum(sum(each.values()) for each in wanted.values())
    there = f"there are {len(found)}" if len(found) > 1 else "there is 1" if found else "none is"
    all_told = f", {total} in all" if total > number else ""
    return f"the job wants {number} {name} for each {role}{all_told}, and {there} here: --cpu-only, or a profile that asks for less"
