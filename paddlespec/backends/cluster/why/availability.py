"""Nodes that accept no pods because they are cordoned or not ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.place.nodes import Node


def obstacle(node: Node, _pod: Mapping[str, Any]) -> str | None:
    """Name what keeps every pod off *node*."""
    if not node.ready:
        return "is not ready"
    return None if node.schedulable else "is cordoned"


def sentence(nodes: list[Node], pod: Mapping[str, Any]) -> str:
    """Say that no eligible node accepts pods."""
    obstacles = sorted({obstacle(node, pod) or "" for node in nodes})
    states = " or ".join(state.removeprefix("is ") for state in obstacles)
    if len(nodes) == 1:
        return f"the only eligible node, {nodes[0].name}, is {states}"
    return f"all {len(nodes)} eligible nodes are {states}"
