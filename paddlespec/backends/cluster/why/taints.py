"""Node taints that a pod does not tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.node import untolerated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.place.nodes import Node


def obstacle(node: Node, pod: Mapping[str, Any]) -> str | None:
    """Name the taints that keep a pod off *node*."""
    taints = _untolerated(node, pod)
    return f"has the taint {', '.join(taints)}" if taints else None


def sentence(nodes: list[Node], pod: Mapping[str, Any]) -> str:
    """Say which tolerations are missing."""
    every = dict.fromkeys(taint for node in nodes for taint in _untolerated(node, pod))
    noun = "taint" if len(every) == 1 else "taints"
    where = "the only eligible node" if len(nodes) == 1 else f"the {len(nodes)} eligible nodes"
    return f"no toleration for the {noun} {', '.join(every)} on {where}"


def _untolerated(node: Node, pod: Mapping[str, Any]) -> list[str]:
    return [_text(taint) for taint in untolerated(node, pod)]


def _text(taint: Mapping[str, str]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"
