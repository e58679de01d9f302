"""The nodes of a cluster: what each has, what is asked of it, what is left."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.demand import amounts, demand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.cluster.client import Client
    from paddlespec.demand import Amounts
    from paddlespec.manifest import Manifest

# What pods that are over held is free again.
_UNDER_WAY = "status.phase!=Succeeded,status.phase!=Failed"


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
            name: max(Decimal(0), amount - self.used.get(name, Decimal(0)))
            for name, amount in self.allocatable.items()
        }


def nodes(client: Client) -> list[Node]:
    """
    The nodes by name, with two requests however many there are.

    Raises `Refused`: both lists are outside of any namespace, which many may not read.
    """
    listed, pods = client.each(
        lambda each: client.find("v1", *each), (("Node", "", "", ""), ("Pod", "", "", _UNDER_WAY))
    )
    return counted(listed, pods)


def counted(listed: Iterable[Manifest], pods: Iterable[Manifest]) -> list[Node]:
    """*listed* nodes with what *pods* ask of them."""
    used: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for pod in pods:
        if name := pod["spec"].get("nodeName"):
            for resource, amount in demand(pod["spec"]).items():
                used[name][resource] += amount
            used[name]["pods"] += 1
    return sorted((_node(each, used[each["metadata"]["name"]]) for each in listed), key=_name)


def _node(live: Manifest, used: Amounts) -> Node:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    ready = {each["type"]: each.get("status") for each in status.get("conditions") or ()}
    return Node(
        live["metadata"]["name"],
        ready.get("Ready") == "True",
        not spec.get("unschedulable", False),
        live["metadata"].get("labels") or {},
        tuple(spec.get("taints") or ()),
        amounts(status.get("capacity")),
        amounts(status.get("allocatable")),
        dict(used),
    )


def _name(node: Node) -> str:
    return node.name
