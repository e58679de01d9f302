"""What the nodes and queues of a cluster hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.capacity.holding import Holding, of_nodes, of_queues
from paddlespec.capacity.line import Unknown
from paddlespec.cluster.nodes import seen
from paddlespec.cluster.queues import queues
from paddlespec.cluster.terrain import allowed

if TYPE_CHECKING:
    from paddlespec.cluster.client import Client


def holdings(client: Client) -> tuple[list[Holding], list[Unknown]]:
    """Totals, queues of the namespace, nodes; and what one may not look at."""
    nodes, queued = client.each(
        allowed, (lambda: seen(client), lambda: queues(client, client.namespace))
    )
    found: list[Holding] = []
    unknown: list[Unknown] = []
    if isinstance(nodes, OperationFailed):
        unknown.append(Unknown("nodes", nodes.message))
    else:
        listed, refusal = nodes
        found = of_nodes(listed, is_counted=refusal is None)
        unknown += [Unknown("use of nodes", refusal.message)] if refusal else []
    if isinstance(queued, OperationFailed):
        unknown.append(Unknown("queues", queued.message))
    else:
        unknown += queued.unknown
        totals = sum(each.kind == "total" for each in found)
        found[totals:totals] = of_queues(queued.queues)
    return found, unknown
