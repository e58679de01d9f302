"""
Read the queues of Kueue and Volcano.

A local queue of Kueue has no quota of its own: the quota is that of its cluster queue, which many
users may not read. Without it, only the workloads of the local queue are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.place.features import EXTENSIONS, allowed, version
from paddlespec.capacity.demand import amounts
from paddlespec.capacity.line import Unknown
from paddlespec.capacity.queue import (
    ACTIVE,
    CLUSTER_QUEUES,
    KUEUE,
    STOPPED,
    VOLCANO,
    Queue,
    Queues,
    Share,
)
from paddlespec.quantity import quantity
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

# The reason of a local queue whose cluster queue admits nothing; only that one says why.
_CLUSTER_QUEUE_INACTIVE = "ClusterQueueIsInactive"


def queues(client: Client, namespace: str) -> Queues:
    """List the queues of *namespace*, or of all if it is empty, with a fixed number of requests."""
    served = client.each(lambda extension: version(client, extension), (KUEUE, VOLCANO))
    kueue, volcano = (version or "" for version in served)
    queries = [
        (kueue, EXTENSIONS[KUEUE][1], namespace),
        (kueue, "ClusterQueue", ""),
        (volcano, EXTENSIONS[VOLCANO][1], ""),
    ]
    local, cluster, shared = client.each(
        lambda query: allowed(lambda: client.find(*query)) if query[0] else [], queries
    )
    unknown = tuple(
        Unknown(what, answer.message)
        for what, answer in ((KUEUE, local), (CLUSTER_QUEUES, cluster), (VOLCANO, shared))
        if isinstance(answer, OperationFailed)
    )
    result = [*_of_kueue(local, cluster), *map(_of_volcano, _listed(shared))]
    return Queues(tuple(result), served[0], served[1], unknown)


def _listed(answer: Any) -> list[Manifest]:
    return [] if isinstance(answer, OperationFailed) else answer


def _of_kueue(local: Any, cluster: Any) -> Iterator[Queue]:
    known = {queue["metadata"]["name"]: queue for queue in _listed(cluster)}
    for local_queue in _listed(local):
        spec, status = local_queue.get("spec") or {}, local_queue.get("status") or {}
        name = spec.get("clusterQueue")
        behind = known.get(name)
        state, reason = _state(local_queue)
        if behind and (state == ACTIVE or reason == _CLUSTER_QUEUE_INACTIVE):
            state, reason = _state(behind)
        if behind is None and not isinstance(cluster, OperationFailed):
            state, reason = STOPPED, f"cluster queue {name} does not exist"
        own = (behind or {}).get("spec") or {}
        yield Queue(
            KUEUE,
            local_queue["metadata"]["name"],
            local_queue["metadata"]["namespace"],
            name,
            state,
            reason,
            None,
            own.get("cohortName") or own.get("cohort"),
            status.get("pendingWorkloads", 0),
            status.get("admittedWorkloads", 0),
            status.get("reservingWorkloads", 0),
            None if behind is None else tuple(_shares(behind)),
        )


def _state(live: Manifest) -> tuple[str, str | None]:
    """Return the state of a queue of Kueue, and why it is stopped."""
    stop = (live.get("spec") or {}).get("stopPolicy") or "None"
    if stop != "None":
        return STOPPED, f"stopPolicy of {live['kind']} {live['metadata']['name']} is {stop}"
    for condition in (live.get("status") or {}).get("conditions") or ():
        if condition["type"] == "Active" and condition["status"] == "False":
            return STOPPED, condition.get("reason") or "not active"
    return ACTIVE, None


def _shares(live: Manifest) -> Iterator[Share]:
    """Yield the quotas of a cluster queue, with the reserved amounts."""
    spec, status = live["spec"], live.get("status") or {}
    used = {
        (flavor["name"], resource["name"]): quantity(resource.get("total") or 0)
        for flavor in status.get("flavorsReservation") or ()
        for resource in flavor.get("resources") or ()
    }
    for index, group in enumerate(spec.get("resourceGroups") or ()):
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                yield Share(
                    resource["name"],
                    quantity(resource["nominalQuota"]),
                    used.get((flavor["name"], resource["name"]), quantity(0)),
                    flavor["name"],
                    index,
                    _lent(resource),
                )


def _lent(resource: dict[str, Any]) -> Decimal | None:
    most = resource.get("borrowingLimit")
    return None if most is None else quantity(most)


def _of_volcano(live: Manifest) -> Queue:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    bounds, used = amounts(spec.get("capability")), amounts(status.get("allocated"))
    state = status.get("state") or "Open"
    return Queue(
        VOLCANO,
        live["metadata"]["name"],
        state=ACTIVE if state == "Open" else STOPPED,
        reason=None if state == "Open" else state.lower(),
        weight=spec.get("weight"),
        # Since Volcano 1.11 these are metrics rather than part of the object.
        pending=status.get("pending"),
        running=status.get("running"),
        shares=tuple(
            Share(name, bounds.get(name), used.get(name, quantity(0)))
            for name in sorted({*bounds, *used})
        ),
    )
