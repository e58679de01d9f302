"""Taints of nodes that a pod does not tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.node import untolerated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.nodes import Node


def obstacle(node: Node, pod: Mapping[str, Any]) -> str | None:
    """The taints that keep a pod off *node*."""
    found = _untolerated(node, pod)
    return f"has the taint {', '.join(found)}" if found else None


def sentence(nodes: list[Node], pod: Mapping[str, Any]) -> str:
    """What would have to be tolerated."""
    every = dict.fromkeys(taint for node in nodes for taint in _untolerated(node, pod))
    noun = "taint" if len(every) == 1 else "taints"
    those = "node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    return f"no toleration for the {noun} {', '.join(every)} of the {those} that would do"


def _untolerated(node: Node, pod: Mapping[str, Any]) -> list[str]:
    return [_word(each) for each in untolerated(node, pod)]


def _word(taint: Mapping[str, str]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"
