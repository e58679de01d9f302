"""Nodes that have fewer resources free than a pod requests."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.why.amounts import amount, count
from paddlespec.capacity.demand import demand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.place.nodes import Node

_NONE = Decimal(0)


def obstacle(node: Node, pod: Mapping[str, Any]) -> str | None:
    """Name the resources that *node* is short of, and by how much."""
    shortages = []
    for name, asked in _short(node, pod).items():
        free, most = node.free.get(name, _NONE), node.allocatable.get(name, _NONE)
        shortages.append(
            f"{count(name, free)} of {amount(name, most)} free, {count(name, asked - free)} short"
        )
    return "; ".join(shortages) or None


def sentence(nodes: list[Node], pod: Mapping[str, Any]) -> str:
    """Say what every node is short of, and whether waiting can help."""
    lacking = [_short(node, pod) for node in nodes]
    everywhere = [name for name in lacking[0] if all(name in short for short in lacking)]
    if not everywhere:
        shortages = [f"{node.name} of {', '.join(short)}" for node, short in zip(nodes, lacking)]
        return f"every node is short of a resource: {'; '.join(shortages[:3])}"
    name = max(
        everywhere, key=lambda resource: not _can_ever(nodes, resource, lacking[0][resource])
    )
    asked, free = lacking[0][name], max(node.free.get(name, _NONE) for node in nodes)
    most = max(node.allocatable.get(name, _NONE) for node in nodes)
    if not most:
        return f"requests {amount(name, asked)}, but no eligible node has any"
    if asked > most:
        return f"requests {amount(name, asked)}, but the largest node has {count(name, most)}"
    largest = f"more than {count(name, free)}" if free > _NONE else "any"
    return f"requests {amount(name, asked)}, but no node has {largest} free right now"


def _can_ever(nodes: list[Node], name: str, asked: Decimal) -> bool:
    return any(node.allocatable.get(name, _NONE) >= asked for node in nodes)


def _short(node: Node, pod: Mapping[str, Any]) -> dict[str, Decimal]:
    asked = {**demand(pod), "pods": Decimal(1)}
    return {
        name: number
        for name, number in asked.items()
        if number > _NONE and number > node.free.get(name, _NONE)
    }
