"""
A node, and which pods it takes whatever is free: the rules of the scheduler, without its scores.

See "Assigning Pods to Nodes" and "Taints and Tolerations" in the Kubernetes documentation.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.demand import Amounts

    Spec = Mapping[str, Any]

_ZERO = Decimal(0)
_KEEPS_OFF = ("NoSchedule", "NoExecute")


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


def unlabelled(node: Node, pod: Spec) -> dict[str, str]:
    """What the node selector of *pod* asks for and *node* does not have."""
    selector = pod.get("nodeSelector") or {}
    return {name: value for name, value in selector.items() if node.labels.get(name) != value}


def terms(pod: Spec) -> list[Spec]:
    """What the node affinity of *pod* requires: one of these has to match."""
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms") or ())


def matches(node: Node, term: Spec) -> bool:
    """Whether every expression of *term* holds; a term of none matches nothing."""
    fields = {"metadata.name": node.name}
    found = [_holds(each, node.labels) for each in term.get("matchExpressions") or ()]
    found += [_holds(each, fields) for each in term.get("matchFields") or ()]
    return bool(found) and all(found)


def untolerated(node: Node, pod: Spec) -> list[Mapping[str, str]]:
    """The taints that keep *pod* off *node*."""
    tolerations = pod.get("tolerations") or ()
    return [
        taint
        for taint in node.taints
        if taint.get("effect") in _KEEPS_OFF
        and not any(_tolerates(each, taint) for each in tolerations)
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
    """A label as a number; one that is none is neither more nor less than anything."""
    return int(text) if text and text.lstrip("-").isdigit() else float("nan")
