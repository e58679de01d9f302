"""Read everything that limits the jobs of a namespace, with a fixed number of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.place.features import allowed
from paddlespec.backends.cluster.place.nodes import nodes
from paddlespec.backends.cluster.place.queues import queues
from paddlespec.backends.cluster.place.quotas import limits, quotas
from paddlespec.capacity.line import Unknown
from paddlespec.capacity.queue import KUEUE, VOLCANO
from paddlespec.capacity.room import Room
from paddlespec.render.manifest import JOB_LABEL
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client

# What is unknown if a list is refused, where that differs from the list. Pods are no limit.
_BOUNDS = {"queues": (KUEUE, VOLCANO), "pods": ()}
_UNDER_WAY = "status.phase!=Succeeded,status.phase!=Failed"


def room(
    client: Client, namespace: str, *, job: str | None = None, with_nodes: bool = False
) -> Room:
    """
    Read the limits of *namespace*, or of all namespaces if it is empty.

    *job* adds the pods that the job already has. What may not be read is listed as unknown.
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
    refused = {
        key: answer for key, answer in answers.items() if isinstance(answer, OperationFailed)
    }
    seen: dict[str, Any] = {
        key: () if key in refused else answer for key, answer in answers.items()
    }
    unknown = [
        Unknown(what, answer.message)
        for key, answer in refused.items()
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
