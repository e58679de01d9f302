"""
Resource quotas: what a namespace may have in all.

Counted is what the API server counts; see "Resource Quotas" in the Kubernetes documentation.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.capacity.line import Line, asked, left
from paddlespec.demand import amounts, demand, limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.capacity.need import Need
    from paddlespec.demand import Amounts
    from paddlespec.manifest import Manifest

_PLAIN = ("cpu", "memory", "ephemeral-storage")
# Every container has to say how much, once a quota counts it.
_NAMED = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
# Kinds that quotas count by a plain name too.
_SHORT = ("ConfigMap", "PersistentVolumeClaim", "Secret", "Service")
_CLASS = "storageclass.storage.k8s.io"


class Scope(NamedTuple):
    """Which pods a quota counts."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


class Quota(NamedTuple):
    """A quota: how much of each resource there may be, and how much there is."""

    namespace: str
    name: str
    hard: Amounts
    used: Amounts
    scopes: tuple[Scope, ...] = ()


def lines(quota: Quota) -> list[Line]:
    """One line for each resource."""
    scopes = ", ".join(each.name for each in quota.scopes)
    found = []
    for name, hard in sorted(quota.hard.items()):
        used = quota.used.get(name, Decimal(0))
        reason = f"only {scopes} pods" if scopes else None
        line = Line("quota", quota.name, name, used, hard, left(hard, used))
        found.append(line._replace(reason=reason, namespace=quota.namespace))
    return found


def wanted(quota: Quota, need: Need) -> list[Line]:
    """The lines of *quota* with what *need* asks of it."""
    charged = charges(need, quota.scopes)
    silent = _silent(need, quota.scopes)
    found = []
    for line in lines(quota):
        line = asked(line, charged.get(line.resource or "", Decimal(0)))
        if line.resource in _NAMED and _NAMED[line.resource] in silent:
            told = f"every container has to name its {' of '.join(_NAMED[line.resource])}"
            line = line._replace(fits=False, reason=told)
        found.append(line)
    return found


def charges(need: Need, scopes: Iterable[Scope] = ()) -> Amounts:
    """What quotas count of *need*, by the names that they count it by."""
    total: dict[str, Decimal] = defaultdict(Decimal)
    scopes = tuple(scopes)
    for group in need.groups:
        if not all(counts(each, group.pod) for each in scopes):
            continue
        for name, amount in _of_pod(group.pod).items():
            total[name] += amount * group.replicas
    # A quota with a scope counts pods alone.
    for each in need.objects if not scopes else ():
        for name, amount in _of_object(each).items():
            total[name] += amount
    return dict(total)


def counts(scope: Scope, pod: Mapping[str, Any]) -> bool:
    """Whether a quota with *scope* counts *pod*; an unknown scope counts everything."""
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
    """Whether a pod wants to be near, or far from, pods of other namespaces."""
    if isinstance(affinity, dict):
        own = bool(affinity.get("namespaces")) or affinity.get("namespaceSelector") is not None
        return own or any(_crosses(each) for each in affinity.values())
    return isinstance(affinity, list) and any(_crosses(each) for each in affinity)


def _of_pod(pod: Mapping[str, Any]) -> Amounts:
    found = {"pods": Decimal(1), "count/pods": Decimal(1)}
    for name, amount in demand(pod).items():
        found[f"requests.{name}"] = amount
        if name in _PLAIN or name.startswith("hugepages-"):
            found[name] = amount
    return found | {f"limits.{name}": amount for name, amount in limits(pod).items()}


def _of_object(manifest: Manifest) -> Amounts:
    kind = manifest["kind"]
    group = manifest["apiVersion"].rpartition("/")[0]
    plural = f"{kind.lower()}s"
    found = {f"count/{plural}.{group}" if group else f"count/{plural}": Decimal(1)}
    if kind in _SHORT and not group:
        found[plural] = Decimal(1)
    if kind == "PersistentVolumeClaim" and not group:
        spec = manifest["spec"]
        size = amounts((spec.get("resources") or {}).get("requests")).get("storage", Decimal(0))
        found["requests.storage"] = size
        if storage_class := spec.get("storageClassName"):
            found[f"{storage_class}.{_CLASS}/requests.storage"] = size
            found[f"{storage_class}.{_CLASS}/persistentvolumeclaims"] = Decimal(1)
    return found


def _silent(need: Need, scopes: Iterable[Scope]) -> set[tuple[str, str]]:
    """What some container does not name."""
    found = set()
    for group in need.groups:
        if not all(counts(each, group.pod) for each in scopes):
            continue
        for each in (*(group.pod.get("initContainers") or ()), *group.pod["containers"]):
            own = each.get("resources") or {}
            given = {"limits": own.get("limits") or {}}
            # A limit alone is a request as well.
            given["requests"] = {**given["limits"], **(own.get("requests") or {})}
            found |= {place for place in _NAMED.values() if place[1] not in given[place[0]]}
    return found
