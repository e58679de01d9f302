"""Read the nodes of a cluster: their capacity, and the requests of their pods."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.place.features import allowed
from paddlespec.capacity.demand import amounts, demand
from paddlespec.capacity.node import Node
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.capacity.demand import Amounts
    from paddlespec.render.manifest import Manifest

__all__ = ["Node", "counted", "nodes", "seen"]

# Finished pods hold no resources.
_UNDER_WAY = "status.phase!=Succeeded,status.phase!=Failed"


def nodes(client: Client) -> list[Node]:
    """
    List the nodes, sorted by name, with two requests for any number of nodes.

    Raises `Refused`: both lists are cluster-wide, which many users may not read.
    """
    listed, refusal = seen(client)
    if refusal is not None:
        raise refusal
    return listed


def seen(client: Client) -> tuple[list[Node], OperationFailed | None]:
    """List the nodes; also return the refusal if their pods may not be read."""
    listed, pods = client.each(
        lambda query: allowed(lambda: client.find("v1", *query)),
        (("Node", "", "", ""), ("Pod", "", "", _UNDER_WAY)),
    )
    if isinstance(listed, OperationFailed):
        raise listed
    if isinstance(pods, OperationFailed):
        return counted(listed, ()), pods
    return counted(listed, pods), None


def counted(listed: Iterable[Manifest], pods: Iterable[Manifest]) -> list[Node]:
    """Add the requests of *pods* to the *listed* nodes."""
    used: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for pod in pods:
        if name := pod["spec"].get("nodeName"):
            for resource, amount in demand(pod["spec"]).items():
                used[name][resource] += amount
            used[name]["pods"] += 1
    return sorted((_node(node, used[node["metadata"]["name"]]) for node in listed), key=_name)


def _node(live: Manifest, used: Amounts) -> Node:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    ready = {
        condition["type"]: condition.get("status") for condition in status.get("conditions") or ()
    }
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
