"""Nodes that take no pods: cordoned, or not ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.nodes import Node


def obstacle(node: Node, _pod: Mapping[str, Any]) -> str | None:
    """What keeps every pod off *node*."""
    if not node.ready:
        return "is not ready"
    return None if node.schedulable else "is cordoned"


def sentence(nodes: list[Node], pod: Mapping[str, Any]) -> str:
    """That none of the nodes that would do is there for anybody."""
    told = sorted({obstacle(each, pod) or "" for each in nodes})
    states = " or ".join(each.removeprefix("is ") for each in told)
    if len(nodes) == 1:
        return f"the only node that would do, {nodes[0].name}, is {states}"
    return f"all {len(nodes)} nodes that would do are {states}"
