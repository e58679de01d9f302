"""Labels of nodes that a pod wants, by its node selector or its affinity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.node import matches, terms, unlabelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.cluster.nodes import Node

    Spec = Mapping[str, Any]


def obstacle(node: Node, pod: Spec) -> str | None:
    """What keeps a pod off *node*."""
    lacking = [f"{name}={value}" for name, value in unlabelled(node, pod).items()]
    if lacking:
        return f"has no label {', '.join(lacking)}"
    wanted = terms(pod)
    if wanted and not any(matches(node, each) for each in wanted):
        return "does not match the node affinity"
    return None


def sentence(nodes: list[Node], pod: Spec) -> str:
    """Which label no node has, or what they do not have together."""
    lacking = [unlabelled(each, pod) for each in nodes]
    selector = pod.get("nodeSelector") or {}
    for name, value in selector.items():
        if all(name in each for each in lacking):
            return f"no node has the label {name}={value}"
    if all(lacking):
        together = ", ".join(f"{name}={value}" for name, value in selector.items())
        return f"no node has all of the labels {together}"
    wanted = [_words(each) for each in terms(pod)]
    return f"no node matches the node affinity: {' or '.join(wanted)}"


def _words(term: Spec) -> str:
    listed: Iterable[Spec] = (
        *(term.get("matchExpressions") or ()),
        *(term.get("matchFields") or ()),
    )
    return " and ".join(map(_expression, listed)) or "nothing"


def _expression(each: Spec) -> str:
    values = ", ".join(each.get("values") or ())
    told = f"{each['key']} {each['operator']}"
    return f"{told} ({values})" if values else told
