"""
How many pods of a job would find a node now.

A simple first fit: the roles one after another, each node filled before the next one. The scheduler
may choose better; affinities between pods, volumes and ports are not counted.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.capacity.line import Line
from paddlespec.demand import demand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paddlespec.capacity.need import Group
    from paddlespec.demand import Amounts

_ZERO = Decimal(0)


class Node(NamedTuple):
    """
    A node and what pods ask of it: cores, bytes, devices, pods, by the name of the resource.

    `allocatable` is what the node leaves to pods, `used` the sum of their requests.
    """

    name: str
    ready: bool
    schedulable: bool
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    capacity: Amounts
    allocatable: Amounts
    used: Amounts

    @property
    def free(self) -> Amounts:
        """What another pod could ask for; never below zero."""
        return {
            name: max(_ZERO, amount - self.used.get(name, _ZERO))
            for name, amount in self.allocatable.items()
        }

    @property
    def is_usable(self) -> bool:
        """Whether a pod may be placed there at all."""
        return self.ready and self.schedulable


def placed(groups: Iterable[Group], nodes: Sequence[Node]) -> list[Line]:
    """A line for each group: how many of its replicas find a node, and what the others lack."""
    free = {each.name: dict(each.free) for each in nodes}
    return [_place(each, nodes, free) for each in groups]


def _place(group: Group, nodes: Sequence[Node], free: dict[str, dict[str, Decimal]]) -> Line:
    each = {name: amount for name, amount in demand(group.pod).items() if amount}
    each["pods"] = Decimal(1)
    count, why = 0, Counter[str]()
    for node in nodes:
        own = free[node.name]
        if reason := closed(node, group.pod):
            why[reason] += 1
            continue
        room = int(min(own.get(name, _ZERO) // amount for name, amount in each.items()))
        taken = min(room, group.replicas - count)
        count += taken
        for name, amount in each.items():
            own[name] = own.get(name, _ZERO) - amount * taken
        if count < group.replicas:
            why.update(f"too little {name}" for name in each if own[name] < each[name])
    short = group.replicas - count
    line = Line("nodes", group.role, "replicas", need=Decimal(group.replicas), free=Decimal(count))
    line = line._replace(short=Decimal(short), fits=not short)
    return line._replace(reason=_told(why, len(nodes))) if short else line


def _told(why: Counter[str], nodes: int) -> str:
    if not nodes:
        return "there are no nodes"
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()))
    return f"of {nodes} {'nodes' if nodes > 1 else 'node'}: {told}"


def closed(node: Node, pod: Mapping[str, Any]) -> str | None:
    """Why *node* takes no such pod, however much is free."""
    if not node.ready:
        return "not ready"
    if not node.schedulable:
        return "cordoned"
    if any(
        node.labels.get(name) != value for name, value in (pod.get("nodeSelector") or {}).items()
    ):
        return "other labels than nodeSelector"
    affinity = ((pod.get("affinity") or {}).get("nodeAffinity")) or {}
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    if terms and not any(_matches(term, node) for term in terms.get("nodeSelectorTerms") or ()):
        return "other labels than affinity"
    for taint in node.taints:
        if taint.get("effect") != "PreferNoSchedule" and not any(
            _tolerates(each, taint) for each in pod.get("tolerations") or ()
        ):
            return f"tainted {taint['key']}"
    return None


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (
        taint.get("value") or ""
    )


def _matches(term: Mapping[str, Any], node: Node) -> bool:
    """Whether every expression of a term holds; an empty term matches nothing."""
    fields = {"metadata.name": node.name}
    found = [_holds(each, node.labels) for each in term.get("matchExpressions") or ()]
    found += [_holds(each, fields) for each in term.get("matchFields") or ()]
    return bool(found) and all(found)


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(expression["key"])
    listed = list(expression.get("values") or ())
    match expression.get("operator"):
        case "In":
            return value in listed
        case "NotIn":
            return value not in listed
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _number(value) > _number(listed[0])
        case "Lt":
            return _number(value) < _number(listed[0])
        case _:
            return False


def _number(text: str | None) -> float:
    """A label as a number; one that is none is neither more nor less than anything."""
    return int(text) if text and text.lstrip("-").isdigit() else float("nan")
