"""
The queues of Kueue and of Volcano.

A local queue of Kueue has nothing of its own: what it may give is its cluster queue's, which many
may not look at. Where they may not, its own use is all that is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.capacity.line import Unknown
from paddlespec.capacity.queue import ACTIVE, CLUSTER_QUEUES, KUEUE, STOPPED, VOLCANO, Queue, Share
from paddlespec.cluster.terrain import EXTENSIONS, allowed, version
from paddlespec.demand import amounts
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest


class Queues(NamedTuple):
    """The queues that jobs may name, and the versions of what serves them, if anything does."""

    queues: tuple[Queue, ...]
    kueue: str | None
    volcano: str | None
    unknown: tuple[Unknown, ...] = ()


def queues(client: Client, namespace: str) -> Queues:
    """Those of *namespace*, or of all if it is empty; how many there are costs no request."""
    served = client.each(lambda each: version(client, each), (KUEUE, VOLCANO))
    kueue, volcano = (each or "" for each in served)
    wanted = [
        (kueue, EXTENSIONS[KUEUE][1], namespace),
        (kueue, "ClusterQueue", ""),
        (volcano, EXTENSIONS[VOLCANO][1], ""),
    ]
    local, cluster, shared = client.each(
        lambda each: allowed(lambda: client.find(*each)) if each[0] else [], wanted
    )
    unknown = tuple(
        Unknown(what, each.message)
        for what, each in ((KUEUE, local), (CLUSTER_QUEUES, cluster), (VOLCANO, shared))
        if isinstance(each, OperationFailed)
    )
    found = [*_of_kueue(local, cluster), *map(_of_volcano, _listed(shared))]
    return Queues(tuple(found), served[0], served[1], unknown)


def _listed(found: Any) -> list[Manifest]:
    return [] if isinstance(found, OperationFailed) else found


def _of_kueue(local: Any, cluster: Any) -> Iterator[Queue]:
    known = {each["metadata"]["name"]: each for each in _listed(cluster)}
    for each in _listed(local):
        spec, status = each.get("spec") or {}, each.get("status") or {}
        name = spec.get("clusterQueue")
        behind = known.get(name)
        state, reason = _state(each)
        if behind and state == ACTIVE:
            state, reason = _state(behind)
        if behind is None and not isinstance(cluster, OperationFailed):
            state, reason = STOPPED, f"there is no cluster queue {name}"
        own = (behind or {}).get("spec") or {}
        yield Queue(
            KUEUE,
            each["metadata"]["name"],
            each["metadata"]["namespace"],
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
    """Whether a queue of Kueue admits anything, and why not."""
    stop = (live.get("spec") or {}).get("stopPolicy") or "None"
    if stop != "None":
        return STOPPED, f"stopPolicy of {live['kind']} {live['metadata']['name']} is {stop}"
    for each in (live.get("status") or {}).get("conditions") or ():
        if each["type"] == "Active" and each["status"] == "False":
            return STOPPED, each.get("reason") or "not active"
    return ACTIVE, None


def _shares(live: Manifest) -> Iterator[Share]:
    """The quotas of a cluster queue, with what is reserved of them."""
    spec, status = live["spec"], live.get("status") or {}
    used = {
        (flavor["name"], each["name"]): quantity(each.get("total") or 0)
        for flavor in status.get("flavorsReservation") or ()
        for each in flavor.get("resources") or ()
    }
    for index, group in enumerate(spec.get("resourceGroups") or ()):
        for flavor in group["flavors"]:
            for each in flavor["resources"]:
                yield Share(
                    each["name"],
                    quantity(each["nominalQuota"]),
                    used.get((flavor["name"], each["name"]), quantity(0)),
                    flavor["name"],
                    index,
                    _lent(each),
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
        # Since Volcano 1.11 they are metrics and not part of the object.
        pending=status.get("pending"),
        running=status.get("running"),
        shares=tuple(
            Share(name, bounds.get(name), used.get(name, quantity(0)))
            for name in sorted({*bounds, *used})
        ),
    )
