"""What bounds the jobs of a namespace, read with a fixed number of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backend import OperationFailed
from paddlespec.capacity.line import Unknown
from paddlespec.capacity.queue import KUEUE, VOLCANO
from paddlespec.capacity.room import Room
from paddlespec.cluster.nodes import nodes
from paddlespec.cluster.queues import queues
from paddlespec.cluster.quotas import limits, quotas
from paddlespec.cluster.terrain import allowed
from paddlespec.manifest import JOB_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cluster.client import Client

# What of it bounds a job, where that is not the thing itself; what it holds already does not.
_BOUNDS = {"queues": (KUEUE, VOLCANO), "pods": ()}
_UNDER_WAY = "status.phase!=Succeeded,status.phase!=Failed"


def room(
    client: Client, namespace: str, *, job: str | None = None, with_nodes: bool = False
) -> Room:
    """
    What there is in *namespace*, or in all if it is empty.

    Asked on behalf of *job*, also what it holds already; what one may not look at is told.
    """
    looks: dict[str, Callable[[], Any]] = {
        "quota": lambda: quotas(client, namespace),
        "limits": lambda: limits(client, namespace),
        "queues": lambda: queues(client, namespace),
    }
    if with_nodes:
        looks["nodes"] = lambda: nodes(client)
    if job is not None:
        chosen = f"{JOB_LABEL}={job}"
        looks["pods"] = lambda: client.find("v1", "Pod", namespace, chosen, _UNDER_WAY)
    answers = dict(zip(looks, client.each(allowed, looks.values())))
    refused = {key: each for key, each in answers.items() if isinstance(each, OperationFailed)}
    seen: dict[str, Any] = {key: () if key in refused else each for key, each in answers.items()}
    unknown = [
        Unknown(what, each.message)
        for key, each in refused.items()
        for what in _BOUNDS.get(key, (key,))
    ]
    queued = seen["queues"]
    return Room(
        namespace,
        tuple(seen["quota"]),
        tuple(seen["limits"]),
        queued.queues if queued else (),
        tuple(seen["nodes"]) if with_nodes and "nodes" not in refused else None,
        (*unknown, *(queued.unknown if queued else ())),
        len(seen.get("pods", ())),
    )
