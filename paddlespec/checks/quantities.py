"""Whether what a replica asks of its node can be meant."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.quantity import as_count, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Role

_amount = lru_cache(maxsize=256)(quantity)
# Not even a shell starts with less.
_LEAST_MEMORY = 4 << 20
_MOST_CORES = 1024
_RENAMED = {
    "alpha.kubernetes.io/nvidia-gpu": "nvidia.com/gpu",
    "gpu": "nvidia.com/gpu",
    "nvidia-gpu": "nvidia.com/gpu",
    "nvidia.com": "nvidia.com/gpu",
}


@reads("spec.{role}.resources.memory", "spec.{role}.resources.sharedMemory")
def memory(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Memory is some, its unit is said, and shared memory is a part of it."""
    asked = role.resources
    path = ("spec", name, "resources", "memory")
    whole = _amount(asked.memory)
    if whole == 0:
        yield facts.error("no-resources", "a replica without memory never starts", path)
    elif whole < _LEAST_MEMORY:
        number = str(asked.memory).rstrip("m")
        message = f"memory {asked.memory} is {as_count(whole)} bytes"
        hint = (
            f"write the unit: {number}Gi or {number}Mi"
            if number.isdigit()
            else "no program runs in so little"
        )
        yield facts.warning("memory-unit", message, path, hint)
    if asked.shared_memory is not None and _amount(asked.shared_memory) > whole > 0:
        path = ("spec", name, "resources", "sharedMemory")
        message = f"sharedMemory {asked.shared_memory} is more than memory {asked.memory}"
        hint = "it is a part of the memory: raise `memory` or lower `sharedMemory`"
        yield facts.error("shared-memory", message, path, hint)


@reads("spec.{role}.resources.cpu")
def cpu(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Cores are some, and not thousands."""
    asked = role.resources.cpu
    cores = _amount(asked)
    path = ("spec", name, "resources", "cpu")
    if cores == 0:
        yield facts.error("no-resources", "a replica without CPU never starts", path)
    elif cores > _MOST_CORES:
        message = f"cpu {asked} is {as_count(cores)} cores in one replica"
        hint = f"thousandths are written {as_count(cores)}m"
        yield facts.warning("cpu-unit", message, path, hint)


@reads("spec.{role}.resources.accelerator", "spec.{role}.resources.gpu")
def accelerator(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The cluster knows accelerators by a domain and a name."""
    asked = role.resources.accelerator
    path = ("spec", name, "resources", "accelerator")
    domain, slash, _ = asked.partition("/")
    if asked in _RENAMED:
        hint = f"today it is {_RENAMED[asked]}"
        yield facts.error("accelerator", f"no device plugin offers {asked}", path, hint)
    elif not slash or domain.endswith("kubernetes.io"):
        message = f"{asked} is not the name of an extended resource, such as nvidia.com/gpu"
        yield facts.error("accelerator", message, path)


@reads("spec.mode", "spec.{role}.resources.gpu", "spec.trainers.processesPerReplica")
def gpus_are_used(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The launcher gives each process one accelerator; pservers take none."""
    gpus = role.resources.gpu
    if not gpus:
        return
    path = ("spec", name, "resources", "gpu")
    if name == "pservers":
        yield facts.warning("gpu-count", "pservers compute on the CPU", path, "remove `gpu`")
    elif facts.job.spec.mode == "collective":
        processes = facts.job.spec.trainers.processes_per_replica
        hint = f"write `processesPerReplica: {gpus}`"
        if processes < gpus:
            message = f"{processes} of {gpus} accelerators used: a process takes one"
            yield facts.warning("gpu-count", message, path, hint)
        elif processes > gpus:
            message = f"{processes} processes share {gpus} accelerators, which NCCL refuses"
            yield facts.warning("gpu-count", message, path, hint)
