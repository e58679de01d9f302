"""
How many pods of a job would find a node now.

A simple first fit: the roles one after another, each node filled before the next one. The scheduler
may choose better; affinities between pods, volumes and ports are not counted.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.capacity.line import Line
from paddlespec.capacity.node import matches, terms, unlabelled, untolerated
from paddlespec.demand import demand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paddlespec.capacity.need import Group
    from paddlespec.capacity.node import Node

_ZERO = Decimal(0)


def placed(groups: Iterable[Group], nodes: Sequence[Node]) -> list[Line]:
    """A line for each group: how many of its replicas find a node, and what the others lack."""
    free = {each.name: dict(each.free) for each in nodes}
    return [_place(each, nodes, free) for each in groups]


def _place(group: Group, nodes: Sequence[Node], free: dict[str, dict[str, Decimal]]) -> Line:
    each = {name: amount for name, amount in demand(group.pod).items() if amount}
    each["pods"] = Decimal(1)
    count, why = 0, Counter[str]()
    for node in nodes:
        own = free[node.name]
        if reason := closed(node, group.pod):
            why[reason] += 1
            continue
        room = int(min(own.get(name, _ZERO) // amount for name, amount in each.items()))
        taken = min(room, group.replicas - count)
        count += taken
        for name, amount in each.items():
            own[name] = own.get(name, _ZERO) - amount * taken
        if count < group.replicas:
            why.update(f"too little {name}" for name in each if own[name] < each[name])
    short = group.replicas - count
    line = Line("nodes", group.role, "replicas", need=Decimal(group.replicas), free=Decimal(count))
    line = line._replace(short=Decimal(short), fits=not short)
    return line._replace(reason=_told(why, len(nodes))) if short else line


def _told(why: Counter[str], nodes: int) -> str:
    if not nodes:
        return "there are no nodes"
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()))
    return f"of {nodes} {'nodes' if nodes > 1 else 'node'}: {told}"


def closed(node: Node, pod: Mapping[str, Any]) -> str | None:
    """Why *node* takes no such pod, however much is free."""
    if not node.ready:
        return "not ready"
    if not node.schedulable:
        return "cordoned"
    if unlabelled(node, pod):
        return "other labels than nodeSelector"
    wanted = terms(pod)
    if wanted and not any(matches(node, each) for each in wanted):
        return "other labels than affinity"
    taint = next(iter(untolerated(node, pod)), None)
    return f"tainted {taint['key']}" if taint else None
