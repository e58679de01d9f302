"""The nodes of a cluster: what each has, what is asked of it, what is left."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.capacity.node import Node
from paddlespec.cluster.terrain import allowed
from paddlespec.demand import amounts, demand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.cluster.client import Client
    from paddlespec.demand import Amounts
    from paddlespec.manifest import Manifest

__all__ = ["Node", "counted", "nodes", "seen"]

# What pods that are over held is free again.
_UNDER_WAY = "status.phase!=Succeeded,status.phase!=Failed"


def nodes(client: Client) -> list[Node]:
    """
    The nodes by name, with two requests however many there are.

    Raises `Refused`: both lists are outside of any namespace, which many may not read.
    """
    found, refusal = seen(client)
    if refusal is not None:
        raise refusal
    return found


def seen(client: Client) -> tuple[list[Node], OperationFailed | None]:
    """The nodes as far as one may look; why it is not known what pods ask of them."""
    listed, pods = client.each(
        lambda each: allowed(lambda: client.find("v1", *each)),
        (("Node", "", "", ""), ("Pod", "", "", _UNDER_WAY)),
    )
    if isinstance(listed, OperationFailed):
        raise listed
    if isinstance(pods, OperationFailed):
        return counted(listed, ()), pods
    return counted(listed, pods), None


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
