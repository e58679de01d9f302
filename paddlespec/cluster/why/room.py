"""Resources of which a node has less left than a pod asks for."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.cluster.why.amounts import amount, are, count
from paddlespec.demand import demand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.nodes import Node

_NONE = Decimal(0)


def obstacle(node: Node, pod: Mapping[str, Any]) -> str | None:
    """What a pod lacks on *node*, and how much of it."""
    told = []
    for name, asked in _short(node, pod).items():
        free, most = node.free.get(name, _NONE), node.allocatable.get(name, _NONE)
        have = f"{count(name, free)} of {amount(name, most)} {are(free)} free"
        told.append(f"{have}, {count(name, asked - free)} short")
    return "; ".join(told) or None


def sentence(nodes: list[Node], pod: Mapping[str, Any]) -> str:
    """What no node has enough of: for good, or as long as others hold it."""
    lacking = [_short(each, pod) for each in nodes]
    everywhere = [name for name in lacking[0] if all(name in each for each in lacking)]
    if not everywhere:
        told = [f"{node.name} of {', '.join(each)}" for node, each in zip(nodes, lacking)]
        return f"every node is short of something: {'; '.join(told[:3])}"
    name = max(everywhere, key=lambda each: not _can_ever(nodes, each, lacking[0][each]))
    asked, free = lacking[0][name], max(each.free.get(name, _NONE) for each in nodes)
    most = max(each.allocatable.get(name, _NONE) for each in nodes)
    if not most:
        return f"asks for {amount(name, asked)}, and no node that would do has any"
    if asked > most:
        return f"asks for {amount(name, asked)}, and the largest node has {count(name, most)}"
    return (
        f"asks for {amount(name, asked)}, and at most {count(name, free)} {are(free)} free on a "
        f"node at the moment"
    )


def _can_ever(nodes: list[Node], name: str, asked: Decimal) -> bool:
    return any(each.allocatable.get(name, _NONE) >= asked for each in nodes)


def _short(node: Node, pod: Mapping[str, Any]) -> dict[str, Decimal]:
    asked = {**demand(pod), "pods": Decimal(1)}
    return {
        name: number
        for name, number in asked.items()
        if number > _NONE and number > node.free.get(name, _NONE)
    }
