"""What nodes and queues hold of each resource: capacity, used and free."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.capacity.line import left

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.capacity.node import Node
    from paddlespec.capacity.queue import Queue

_PLAIN = ("cpu", "memory")
_ZERO = Decimal(0)


class Holding(NamedTuple):
    """
    How much of a resource a node, a queue or all nodes together hold.

    `kind` is total, queue, node, machine, or datacenter for one that did not answer. `free` is what
    a job can request now: zero on a node that accepts no pods.
    """

    kind: str
    name: str
    resource: str | None = None
    capacity: Decimal | None = None
    allocatable: Decimal | None = None
    used: Decimal | None = None
    free: Decimal | None = None
    state: str = "ready"
    reason: str | None = None
    datacenter: str | None = None


def is_device(resource: str) -> bool:
    """Report whether a device plugin provides the resource, such as nvidia.com/gpu."""
    return "/" in resource and not resource.split("/", maxsplit=1)[0].endswith("kubernetes.io")


def of_nodes(nodes: Sequence[Node], *, is_counted: bool = True) -> list[Holding]:
    """List the totals, then each node; without *is_counted*, requests of pods are unknown."""
    holdings = [line for node in nodes for line in _of_node(node, is_counted=is_counted)]
    return [*_totals(holdings), *holdings]


def of_queues(queues: Iterable[Queue]) -> Iterator[Holding]:
    """List the shares of each queue."""
    for queue in queues:
        for share in queue.shares or ():
            name = f"{queue.name}/{share.flavor}" if share.flavor else queue.name
            yield Holding(
                *("queue", name, share.resource, share.quota, share.quota, share.used, share.free),
                state=queue.state,
                reason=queue.reason,
            )


def _of_node(node: Node, *, is_counted: bool) -> Iterator[Holding]:
    state = "ready" if node.is_usable else "cordoned" if node.ready else "not ready"
    devices = sorted(name for name in node.allocatable if is_device(name))
    for name in (*_PLAIN, *devices):
        allocatable = node.allocatable.get(name, _ZERO)
        used = node.used.get(name, _ZERO) if is_counted else None
        free = left(allocatable, used) if node.is_usable else _ZERO
        yield Holding(
            "node", node.name, name, node.capacity.get(name), allocatable, used, free, state
        )


def _totals(nodes: Iterable[Holding]) -> list[Holding]:
    resources: dict[str, list[Holding]] = defaultdict(list)
    for holding in nodes:
        resources[holding.resource or ""].append(holding)
    return [
        Holding(
            "total",
            "nodes",
            name,
            _sum(holding.capacity for holding in own),
            _sum(holding.allocatable for holding in own),
            _sum(holding.used for holding in own),
            _sum(holding.free for holding in own),
        )
        for name, own in resources.items()
    ]


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Sum up *amounts*; None if one of them is unknown."""
    total = _ZERO
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total
