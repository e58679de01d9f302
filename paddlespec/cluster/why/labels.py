"""Labels of nodes that a pod wants, by its node selector or its affinity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.cluster.nodes import Node

    Spec = Mapping[str, Any]


def obstacle(node: Node, pod: Spec) -> str | None:
    """What keeps a pod off *node*."""
    selector = pod.get("nodeSelector") or {}
    lacking = [f"{name}={value}" for name, value in selector.items() if _lacks(node, name, value)]
    if lacking:
        return f"has no label {', '.join(lacking)}"
    terms = _terms(pod)
    if terms and not any(_agrees(node, each) for each in terms):
        return "does not match the node affinity"
    return None


def sentence(nodes: list[Node], pod: Spec) -> str:
    """Which label no node has, or what they do not have together."""
    selector = pod.get("nodeSelector") or {}
    for name, value in selector.items():
        if all(_lacks(each, name, value) for each in nodes):
            return f"no node has the label {name}={value}"
    if selector and all(any(_lacks(each, *one) for one in selector.items()) for each in nodes):
        together = ", ".join(f"{name}={value}" for name, value in selector.items())
        return f"no node has all of the labels {together}"
    wanted = [_words(each) for each in _terms(pod)]
    return f"no node matches the node affinity: {' or '.join(wanted)}"


def _lacks(node: Node, name: str, value: str) -> bool:
    return node.labels.get(name) != value


def _terms(pod: Spec) -> list[Spec]:
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms") or ())


def _agrees(node: Node, term: Spec) -> bool:
    """All expressions of a term have to hold; a term of none matches nothing."""
    labels, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return bool(labels or fields) and all(
        (
            *(_holds(each, node.labels) for each in labels),
            *(_holds(each, {"metadata.name": node.name}) for each in fields),
        )
    )


def _holds(expression: Spec, labels: Mapping[str, str]) -> bool:
    found, values = labels.get(expression["key"]), list(expression.get("values") or [])
    match expression["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case "Gt":
            return _is_number(found) and int(found or 0) > int(values[0])
        case "Lt":
            return _is_number(found) and int(found or 0) < int(values[0])
        case _:
            return True


def _is_number(text: str | None) -> bool:
    return text is not None and text.lstrip("-").isdecimal()


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
