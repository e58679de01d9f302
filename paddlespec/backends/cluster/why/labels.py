"""Node labels that a pod requires by its node selector or its node affinity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.node import matches, terms, unlabelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.backends.cluster.place.nodes import Node

    Spec = Mapping[str, Any]


def obstacle(node: Node, pod: Spec) -> str | None:
    """Name the labels that keep a pod off *node*."""
    lacking = [f"{name}={value}" for name, value in unlabelled(node, pod).items()]
    if lacking:
        return f"has no label {', '.join(lacking)}"
    required = terms(pod)
    if required and not any(matches(node, term) for term in required):
        return "does not match the node affinity"
    return None


def sentence(nodes: list[Node], pod: Spec) -> str:
    """Say which labels no node has, or no node has together."""
    lacking = [unlabelled(node, pod) for node in nodes]
    selector = pod.get("nodeSelector") or {}
    for name, value in selector.items():
        if all(name in names for names in lacking):
            return f"no node has the label {name}={value}"
    if all(lacking):
        together = ", ".join(f"{name}={value}" for name, value in selector.items())
        return f"no node has all the labels {together}"
    affinity = [_term(term) for term in terms(pod)]
    return f"no node matches the node affinity: {' or '.join(affinity)}"


def _term(term: Spec) -> str:
    listed: Iterable[Spec] = (
        *(term.get("matchExpressions") or ()),
        *(term.get("matchFields") or ()),
    )
    return " and ".join(map(_expression, listed)) or "nothing"


def _expression(expression: Spec) -> str:
    values = ", ".join(expression.get("values") or ())
    text = f"{expression['key']} {expression['operator']}"
    return f"{text} ({values})" if values else text
