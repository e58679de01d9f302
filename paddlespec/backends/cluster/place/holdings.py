"""Read what the nodes and queues of a cluster hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.place.features import allowed
from paddlespec.backends.cluster.place.nodes import seen
from paddlespec.backends.cluster.place.queues import queues
from paddlespec.capacity.holding import Holding, of_nodes, of_queues
from paddlespec.capacity.line import Unknown
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client


def holdings(client: Client) -> tuple[list[Holding], list[Unknown]]:
    """List totals, queues of the namespace and nodes, and what may not be read."""
    nodes, queued = client.each(
        allowed, (lambda: seen(client), lambda: queues(client, client.namespace))
    )
    result: list[Holding] = []
    unknown: list[Unknown] = []
    if isinstance(nodes, OperationFailed):
        unknown.append(Unknown("nodes", nodes.message))
    else:
        listed, refusal = nodes
        result = of_nodes(listed, is_counted=refusal is None)
        unknown += [Unknown("use of nodes", refusal.message)] if refusal else []
    if isinstance(queued, OperationFailed):
        unknown.append(Unknown("queues", queued.message))
    else:
        unknown += queued.unknown
        totals = sum(holding.kind == "total" for holding in result)
        result[totals:totals] = of_queues(queued.queues)
    return result, unknown
