"""Check that the resource requests of a replica are plausible."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.checks.written import has_unknown_keys
from paddlespec.quantity import as_count, quantity
from paddlespec.render import roles
from paddlespec.render.resources import NATIVE, NO_LIMIT, limit, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName

_number = lru_cache(maxsize=256)(quantity)
# Not even a shell starts with less.
_MIN_MEMORY = 4 << 20
_MAX_CORES = 1024
_FIELDS = frozenset(
    (
        "cpu",
        "memory",
        "ephemeralStorage",
        "limits",
        "gpu",
        "accelerator",
        "extended",
        "claims",
        "sharedMemory",
    )
)


@reads("spec.{role}.resources")
def memory(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Memory has a unit, and includes shared memory."""
    resources = role.resources
    for path, amount in _written(name, role, "memory", "memory"):
        number = _number(amount)
        if 0 < number < _MIN_MEMORY:
            digits = str(amount).rstrip("m")
            message = f"memory {amount} means {as_count(number)} bytes"
            hint = (
                f"add a unit: {digits}Gi or {digits}Mi"
                if digits.isdigit()
                else "request more: no program runs with so little memory"
            )
            yield facts.warning("memory-unit", message, path, hint)
    most = limit(resources, "memory")
    if resources.shared_memory is None or most is None:
        return
    if _number(resources.shared_memory) > _number(most) > 0:
        path = (*roles.path(name), "resources", "sharedMemory")
        message = f"sharedMemory {resources.shared_memory} exceeds memory {most}"
        hint = "raise `memory`, which includes shared memory, or lower `sharedMemory`"
        yield facts.error("shared-memory", message, path, hint)


@reads("spec.{role}.resources", "spec.{role}.replicas")
def memory_is_set(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Without a request, nodes fill up; a namespace may set a default that is too small."""
    resources = role.resources
    path: Path = (*roles.path(name), "resources")
    if request(resources, "memory") is not None or facts.target == "local":
        return
    if has_unknown_keys(facts.document, path, _FIELDS):
        return
    message = (
        f"{roles.clause(name, 'request')} no memory: nodes evict them first, and defaults of the "
        "namespace apply"
    )
    place = ".".join(map(str, roles.path(name)[1:]))
    hint = f"add `memory` to {place}.resources: `memory: 16Gi`"
    if resources.gpu:
        message = (
            f"{roles.clause(name, 'request')} {resources.gpu} x {resources.accelerator} but no memory: a node "
            f"without free memory kills them first, and all {resources.gpu * role.replicas} "
            "accelerators then wait for a restart"
        )
    yield facts.warning("no-memory", message, path, hint)


@reads("spec.{role}.resources")
def cpu(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The number of cores is not in the thousands."""
    for path, requested in _written(name, role, "cpu", "cpu"):
        cores = _number(requested)
        if cores > _MAX_CORES:
            message = f"cpu {requested} means {as_count(cores)} cores per replica"
            hint = f"write {as_count(cores)}m for thousandths of a core"
            yield facts.warning("cpu-unit", message, path, hint)


@reads("spec.{role}.resources")
def limits(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Requests and limits are above zero, and no limit is below its request."""
    for native, attribute in NATIVE:
        key = "ephemeralStorage" if native == "ephemeral-storage" else native
        for path, amount in _written(name, role, attribute, key):
            if _number(amount) == 0:
                what = {"cpu": "CPU", "memory": "memory"}.get(native, "disk space")
                message = f"a replica without {what} never starts"
                yield facts.error("no-resources", message, path)
        most, own = limit(role.resources, attribute), request(role.resources, attribute)
        if most is not None and own is not None and 0 < _number(most) < _number(own):
            path = (*roles.path(name), "resources", "limits", key)
            message = f"the limit {most} of {key} is below the request {own}"
            yield facts.error("limit", message, path, f"set it to {own} or more, or remove it")


def _written(
    name: RoleName, role: Role, attribute: str, key: str
) -> Iterator[tuple[Path, str | float]]:
    """Yield the request and the limit that the spec sets, with their paths."""
    own: str | float | None = getattr(role.resources, attribute)
    if own is not None:
        yield (*roles.path(name), "resources", key), own
    most: str | float | None = getattr(role.resources.limits, attribute)
    if most not in (None, NO_LIMIT):
        yield (*roles.path(name), "resources", "limits", key), most
