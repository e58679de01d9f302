"""Check the devices that a replica requests: accelerators, other resources by name, claims."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.checks.written import has_unknown_keys
from paddlespec.quantity import quantity
from paddlespec.render import roles, runtime
from paddlespec.render.resources import request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName

_RENAMED = {
    "alpha.kubernetes.io/nvidia-gpu": "nvidia.com/gpu",
    "gpu": "nvidia.com/gpu",
    "nvidia-gpu": "nvidia.com/gpu",
    "nvidia.com": "nvidia.com/gpu",
}
_HUGE_PAGES = re.compile(r"hugepages-([1-9][0-9]*(?:[KMGT]i)?)")
_OF_CLAIM = frozenset(("name", "template", "claim", "request"))
_OWN_FIELDS = {
    "cpu": "cpu",
    "memory": "memory",
    "ephemeral-storage": "ephemeralStorage",
    "ephemeralStorage": "ephemeralStorage",
}


@reads("spec.{role}.resources")
def extended(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Other resources have the name of an extended resource, and come in whole numbers."""
    resources = role.resources
    for key, amount in resources.extended.items():
        path: Path = (*roles.path(name), "resources", "extended", key)
        field = _OWN_FIELDS.get(key)
        if field:
            message = f'"{key}" has a field of its own'
            yield facts.error("extended-resource", message, path, f"use `{field}`", key=True)
        elif resources.gpu and key == resources.accelerator:
            message = f'"{key}" is requested by `gpu`, too'
            yield facts.error("extended-resource", message, path, "remove it", key=True)
        elif match := _HUGE_PAGES.fullmatch(key):
            if all(request(resources, native) is None for native in ("cpu", "memory")):
                message = f"{key} requires a request for CPU or memory"
                yield facts.error("extended-resource", message, path, "add `memory`", key=True)
            elif quantity(amount) % quantity(match[1]):
                message = f"{key} {amount} is not a whole number of pages"
                hint = f"request a multiple of {match[1]}"
                yield facts.error("extended-resource", message, path, hint)
        elif not _is_extended(key):
            message = f'"{key}" is not the name of an extended resource'
            hint = "use a name such as rdma/hca, or hugepages-2Mi"
            yield facts.error("extended-resource", message, path, hint, key=True)
        elif quantity(amount) % 1:
            message = f"{key} {amount} is not a whole number"
            yield facts.error("extended-resource", message, path, "request whole devices")


@reads("spec.network", "spec.trainers.resources")
def rdma(facts: Facts) -> Iterator[Diagnostic]:
    """RDMA devices have the name of an extended resource of their own."""
    asked = facts.job.spec.network.rdma
    if isinstance(asked, bool):
        return
    resources, name = facts.job.spec.trainers.resources, asked.resource
    path: Path = ("spec", "network", "rdma", "resource")
    if not _is_extended(name):
        message = f'"{name}" is not the name of an extended resource'
        yield facts.error("extended-resource", message, path, "use a name such as rdma/hca")
    elif resources.gpu and name == resources.accelerator:
        message = f'"{name}" is requested by `gpu`, too'
        hint = "use the resource of the network devices, such as rdma/hca"
        yield facts.error("extended-resource", message, path, hint)


def _is_extended(name: str) -> bool:
    """Report whether Kubernetes counts *name* as an extended resource."""
    domain, slash, _ = name.partition("/")
    own = domain.endswith("kubernetes.io") or domain.startswith("requests.")
    return bool(slash) and not own


@reads("spec.{role}.resources")
def claims(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A claim is taken from a template or exists, and claims have distinct names."""
    seen: set[str] = set()
    for index, claim in enumerate(role.resources.claims):
        path: Path = (*roles.path(name), "resources", "claims", index)
        unread = has_unknown_keys(facts.document, path, _OF_CLAIM) and not claim.template
        if bool(claim.template) == bool(claim.claim) and not unread:
            which = "both a template and a claim" if claim.template else "no source"
            message = f'claim "{claim.name}" has {which}'
            yield facts.error("resource-claim", message, path, "set `template` or `claim`")
        if claim.name in seen:
            message = f'two claims are called "{claim.name}"'
            yield facts.error("resource-claim", message, (*path, "name"), "rename one of them")
        seen.add(claim.name)


@reads("spec.{role}.resources.accelerator", "spec.{role}.resources.gpu")
def accelerator(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """An accelerator is an extended resource: a domain and a name."""
    resource = role.resources.accelerator
    path = (*roles.path(name), "resources", "accelerator")
    if resource in _RENAMED:
        message = f'no device plugin provides "{resource}"'
        yield facts.error("accelerator", message, path, f"use {_RENAMED[resource]}")
    elif not _is_extended(resource):
        message = f'"{resource}" is not the name of an extended resource'
        yield facts.error("accelerator", message, path, "use a name such as nvidia.com/gpu")


@reads("spec.mode", "spec.{role}.resources", "spec.trainers")
def gpus_are_used(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The launcher assigns one accelerator to each process; pservers use none."""
    gpus = role.resources.gpu
    if not gpus:
        return
    path = (*roles.path(name), "resources", "gpu")
    if name == "pservers":
        yield facts.warning("gpu-count", "pservers use no accelerators", path, "remove `gpu`")
    elif facts.job.spec.mode == "collective":
        processes = runtime.processes(facts.job)
        hint = f"remove `processesPerReplica`, or set it to {gpus}"
        if processes < gpus:
            message = f"{processes} of {gpus} accelerators used: each process uses one"
            yield facts.warning("gpu-count", message, path, hint)
        elif processes > gpus:
            message = (
                f"{processes} processes share {gpus} accelerators, which NCCL does not support"
            )
            yield facts.warning("gpu-count", message, path, hint)
