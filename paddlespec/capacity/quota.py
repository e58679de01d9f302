"""
Resource quotas: the limits of a namespace.

Usage is counted as by the API server; see "Resource Quotas" in the Kubernetes documentation.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.capacity.demand import amounts, demand, limits
from paddlespec.capacity.line import Line, left, with_need

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.capacity.demand import Amounts
    from paddlespec.capacity.need import Need
    from paddlespec.render.manifest import Manifest

_PLAIN = ("cpu", "memory", "ephemeral-storage")
# If a quota limits these, every container must set them.
_REQUIRED = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
# Kinds that quotas also count by their plain plural.
_PLURALS = ("ConfigMap", "PersistentVolumeClaim", "Secret", "Service")
_CLASS = "storageclass.storage.k8s.io"


class Scope(NamedTuple):
    """A condition on the pods that a quota counts."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


class Quota(NamedTuple):
    """A quota: the limit and the usage of each resource."""

    namespace: str
    name: str
    hard: Amounts
    used: Amounts
    scopes: tuple[Scope, ...] = ()


def lines(quota: Quota) -> list[Line]:
    """Return a line for each resource."""
    scopes = ", ".join(scope.name for scope in quota.scopes)
    result = []
    for name, hard in sorted(quota.hard.items()):
        used = quota.used.get(name, Decimal(0))
        reason = f"only {scopes} pods" if scopes else None
        line = Line("quota", quota.name, name, used, hard, left(hard, used))
        result.append(line._replace(reason=reason, namespace=quota.namespace))
    return result


def lines_with_need(quota: Quota, need: Need) -> list[Line]:
    """Compare *need* with the lines of *quota*."""
    charged = charges(need, quota.scopes)
    unset = _unset(need, quota.scopes)
    result = []
    for line in lines(quota):
        line = with_need(line, charged.get(line.resource or "", Decimal(0)))
        if line.resource in _REQUIRED and _REQUIRED[line.resource] in unset:
            reason = f"every container must set {'.'.join(_REQUIRED[line.resource])}"
            line = line._replace(fits=False, reason=reason)
        result.append(line)
    return result


def charges(need: Need, scopes: Iterable[Scope] = ()) -> Amounts:
    """Return what quotas count of *need*, keyed by their resource names."""
    total: dict[str, Decimal] = defaultdict(Decimal)
    scopes = tuple(scopes)
    for group in need.groups:
        if not all(counts(scope, group.pod) for scope in scopes):
            continue
        for name, amount in _of_pod(group.pod).items():
            total[name] += amount * group.replicas
    # A quota with a scope counts only pods.
    for item in need.objects if not scopes else ():
        for name, amount in _of_object(item).items():
            total[name] += amount
    return dict(total)


def counts(scope: Scope, pod: Mapping[str, Any]) -> bool:
    """Report whether a quota with *scope* counts *pod*; an unknown scope counts everything."""
    asked_for = {**demand(pod), **limits(pod)}
    has_deadline = pod.get("activeDeadlineSeconds") is not None
    match scope.name:
        case "BestEffort" | "NotBestEffort":
            is_best = not (asked_for.keys() & {"cpu", "memory"})
            return is_best == (scope.name == "BestEffort")
        case "Terminating" | "NotTerminating":
            return has_deadline == (scope.name == "Terminating")
        case "PriorityClass":
            return _selects(scope, pod.get("priorityClassName") or "")
        case "CrossNamespacePodAffinity":
            return _crosses(pod.get("affinity") or {})
        case _:
            return True


def _selects(scope: Scope, value: str) -> bool:
    match scope.operator:
        case "In":
            return value in scope.values
        case "NotIn":
            return value not in scope.values
        case "DoesNotExist":
            return not value
        case _:
            return bool(value)


def _crosses(affinity: Any) -> bool:
    """Report whether an affinity refers to pods of other namespaces."""
    if isinstance(affinity, dict):
        own = bool(affinity.get("namespaces")) or affinity.get("namespaceSelector") is not None
        return own or any(_crosses(value) for value in affinity.values())
    return isinstance(affinity, list) and any(_crosses(value) for value in affinity)


def _of_pod(pod: Mapping[str, Any]) -> Amounts:
    counted = {"pods": Decimal(1), "count/pods": Decimal(1)}
    for name, amount in demand(pod).items():
        counted[f"requests.{name}"] = amount
        if name in _PLAIN or name.startswith("hugepages-"):
            counted[name] = amount
    return counted | {f"limits.{name}": amount for name, amount in limits(pod).items()}


def _of_object(manifest: Manifest) -> Amounts:
    kind = manifest["kind"]
    group = manifest["apiVersion"].rpartition("/")[0]
    plural = f"{kind.lower()}s"
    counted = {f"count/{plural}.{group}" if group else f"count/{plural}": Decimal(1)}
    if kind in _PLURALS and not group:
        counted[plural] = Decimal(1)
    if kind == "PersistentVolumeClaim" and not group:
        spec = manifest["spec"]
        size = amounts((spec.get("resources") or {}).get("requests")).get("storage", Decimal(0))
        counted["requests.storage"] = size
        if storage_class := spec.get("storageClassName"):
            counted[f"{storage_class}.{_CLASS}/requests.storage"] = size
            counted[f"{storage_class}.{_CLASS}/persistentvolumeclaims"] = Decimal(1)
    return counted


def _unset(need: Need, scopes: Iterable[Scope]) -> set[tuple[str, str]]:
    """Return the required values that some container does not set."""
    missing = set()
    for group in need.groups:
        if not all(counts(scope, group.pod) for scope in scopes):
            continue
        for container in (*(group.pod.get("initContainers") or ()), *group.pod["containers"]):
            own = container.get("resources") or {}
            given = {"limits": own.get("limits") or {}}
            # Without a request, the limit is the request.
            given["requests"] = {**given["limits"], **(own.get("requests") or {})}
            missing |= {place for place in _REQUIRED.values() if place[1] not in given[place[0]]}
    return missing
