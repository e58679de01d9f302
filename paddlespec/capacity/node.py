"""
Nodes, and which pods they accept apart from free resources: the scheduler's filters.

See "Assigning Pods to Nodes" and "Taints and Tolerations" in the Kubernetes documentation.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.capacity.demand import Amounts

    Spec = Mapping[str, Any]

_ZERO = Decimal(0)
_KEEPS_OFF = ("NoSchedule", "NoExecute")


class Node(NamedTuple):
    """
    A node and the requests of its pods: cores, bytes, devices and pods, keyed by resource.

    `allocatable` is what the node offers to pods, `used` the sum of their requests.
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
        """What another pod can request; never below zero."""
        return {
            name: max(_ZERO, amount - self.used.get(name, _ZERO))
            for name, amount in self.allocatable.items()
        }

    @property
    def is_usable(self) -> bool:
        """Whether the node accepts pods at all."""
        return self.ready and self.schedulable


def unlabelled(node: Node, pod: Spec) -> dict[str, str]:
    """Return the labels that the node selector of *pod* requires and *node* lacks."""
    selector = pod.get("nodeSelector") or {}
    return {name: value for name, value in selector.items() if node.labels.get(name) != value}


def terms(pod: Spec) -> list[Spec]:
    """List the required node affinity terms of *pod*, one of which must match."""
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms") or ())


def matches(node: Node, term: Spec) -> bool:
    """Report whether all expressions of *term* hold; an empty term matches nothing."""
    fields = {"metadata.name": node.name}
    results = [_holds(expression, node.labels) for expression in term.get("matchExpressions") or ()]
    results += [_holds(expression, fields) for expression in term.get("matchFields") or ()]
    return bool(results) and all(results)


def untolerated(node: Node, pod: Spec) -> list[Mapping[str, str]]:
    """List the taints that keep *pod* off *node*."""
    tolerations = pod.get("tolerations") or ()
    return [
        taint
        for taint in node.taints
        if taint.get("effect") in _KEEPS_OFF
        and not any(_tolerates(toleration, taint) for toleration in tolerations)
    ]


def _tolerates(toleration: Spec, taint: Mapping[str, str]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if not key:
        return exists
    if key != taint["key"]:
        return False
    return exists or (toleration.get("value") or "") == (taint.get("value") or "")


def _holds(expression: Spec, labels: Mapping[str, str]) -> bool:
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
    """Parse a label as a number; NaN compares false with everything."""
    digits = (text or "").removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 20
    return int(text or "") if is_number else float("nan")
