"""
Count how many pods of a job find a node right now.

This is a simple first fit: one role after another, filling each node before the next. The
scheduler may choose better; pod affinities, volumes, and ports of other pods are ignored.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.capacity.demand import demand
from paddlespec.capacity.line import Line
from paddlespec.capacity.node import (
    matches,
    terms,
    unlabelled,
    untolerated,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paddlespec.capacity.need import Group
    from paddlespec.capacity.node import Node

_ZERO = Decimal(0)


def placed(groups: Iterable[Group], nodes: Sequence[Node]) -> list[Line]:
    """Return a line per group: how many replicas find a node, and what keeps the others off."""
    free = {node.name: dict(node.free) for node in nodes}
    return [_place(group, nodes, free) for group in groups]


def _place(group: Group, nodes: Sequence[Node], free: dict[str, dict[str, Decimal]]) -> Line:
    requests = {name: amount for name, amount in demand(group.pod).items() if amount}
    requests["pods"] = Decimal(1)
    count, why = 0, Counter[str]()
    exclusive = _has_host_ports(group.pod)
    for node in nodes:
        own = free[node.name]
        if reason := closed(node, group.pod):
            why[reason] += 1
            continue
        room = int(min(own.get(name, _ZERO) // amount for name, amount in requests.items()))
        if exclusive and room > 1:
            room = 1
            why["taken by another replica with the same host ports"] += 1
        taken = min(room, group.replicas - count)
        count += taken
        for name, amount in requests.items():
            own[name] = own.get(name, _ZERO) - amount * taken
        if count < group.replicas:
            why.update(f"short of {name}" for name in requests if own[name] < requests[name])
    short = group.replicas - count
    line = Line("nodes", group.role, "replicas", need=Decimal(group.replicas), free=Decimal(count))
    line = line._replace(short=Decimal(short), fits=not short)
    return line._replace(reason=_reason(why, len(nodes))) if short else line


def _has_host_ports(pod: Mapping[str, Any]) -> bool:
    """Whether no two replicas fit on one node, because both would need the same port of it."""
    return any(port.get("hostPort") for one in pod["containers"] for port in one.get("ports") or ())


def _reason(why: Counter[str], nodes: int) -> str:
    if not nodes:
        return "the cluster has no nodes"
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()))
    return f"of {nodes} {'nodes' if nodes > 1 else 'node'}: {reasons}"


def closed(node: Node, pod: Mapping[str, Any]) -> str | None:
    """Say why *node* does not accept a pod, apart from free resources."""
    if not node.ready:
        return "not ready"
    if not node.schedulable:
        return "cordoned"
    if unlabelled(node, pod):
        return "not matching nodeSelector"
    required = terms(pod)
    if required and not any(matches(node, term) for term in required):
        return "not matching node affinity"
    taint = next(iter(untolerated(node, pod)), None)
    return f"tainted {taint['key']}" if taint else None
