"""Check that the resource requests of a replica are plausible."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.quantity import as_count, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Role
    from paddlespec.render.runtime import RoleName

_number = lru_cache(maxsize=256)(quantity)
# Not even a shell starts with less.
_MIN_MEMORY = 4 << 20
_MAX_CORES = 1024
_RENAMED = {
    "alpha.kubernetes.io/nvidia-gpu": "nvidia.com/gpu",
    "gpu": "nvidia.com/gpu",
    "nvidia-gpu": "nvidia.com/gpu",
    "nvidia.com": "nvidia.com/gpu",
}


@reads("spec.{role}.resources.memory", "spec.{role}.resources.sharedMemory")
def memory(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Memory is above zero and has a unit; shared memory is part of it."""
    resources = role.resources
    path = ("spec", name, "resources", "memory")
    memory_bytes = _number(resources.memory)
    if memory_bytes == 0:
        yield facts.error("no-resources", "a replica without memory never starts", path)
    elif memory_bytes < _MIN_MEMORY:
        digits = str(resources.memory).rstrip("m")
        message = f"memory {resources.memory} means {as_count(memory_bytes)} bytes"
        hint = (
            f"add a unit: {digits}Gi or {digits}Mi"
            if digits.isdigit()
            else "request more: no program runs with so little memory"
        )
        yield facts.warning("memory-unit", message, path, hint)
    if resources.shared_memory is not None and _number(resources.shared_memory) > memory_bytes > 0:
        path = ("spec", name, "resources", "sharedMemory")
        message = f"sharedMemory {resources.shared_memory} exceeds memory {resources.memory}"
        hint = "raise `memory`, which includes shared memory, or lower `sharedMemory`"
        yield facts.error("shared-memory", message, path, hint)


@reads("spec.{role}.resources.cpu")
def cpu(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The number of cores is above zero, and not in the thousands."""
    requested = role.resources.cpu
    cores = _number(requested)
    path = ("spec", name, "resources", "cpu")
    if cores == 0:
        yield facts.error("no-resources", "a replica without CPU never starts", path)
    elif cores > _MAX_CORES:
        message = f"cpu {requested} means {as_count(cores)} cores per replica"
        hint = f"write {as_count(cores)}m for thousandths of a core"
        yield facts.warning("cpu-unit", message, path, hint)


@reads("spec.{role}.resources.accelerator", "spec.{role}.resources.gpu")
def accelerator(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """An accelerator is an extended resource: a domain and a name."""
    resource = role.resources.accelerator
    path = ("spec", name, "resources", "accelerator")
    domain, slash, _ = resource.partition("/")
    if resource in _RENAMED:
        message = f'no device plugin provides "{resource}"'
        yield facts.error("accelerator", message, path, f"use {_RENAMED[resource]}")
    elif not slash or domain.endswith("kubernetes.io"):
        message = f'"{resource}" is not the name of an extended resource'
        yield facts.error("accelerator", message, path, "use a name such as nvidia.com/gpu")


@reads("spec.mode", "spec.{role}.resources.gpu", "spec.trainers.processesPerReplica")
def gpus_are_used(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The launcher assigns one accelerator to each process; pservers use none."""
    gpus = role.resources.gpu
    if not gpus:
        return
    path = ("spec", name, "resources", "gpu")
    if name == "pservers":
        yield facts.warning("gpu-count", "pservers use no accelerators", path, "remove `gpu`")
    elif facts.job.spec.mode == "collective":
        processes = facts.job.spec.trainers.processes_per_replica
        hint = f"set `processesPerReplica: {gpus}`"
        if processes < gpus:
            message = f"{processes} of {gpus} accelerators used: each process uses one"
            yield facts.warning("gpu-count", message, path, hint)
        elif processes > gpus:
            message = (
                f"{processes} processes share {gpus} accelerators, which NCCL does not support"
            )
            yield facts.warning("gpu-count", message, path, hint)
