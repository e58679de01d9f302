"""Everything that limits the jobs of a namespace, as far as it can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.capacity import limit as limits
from paddlespec.capacity import queue, quota
from paddlespec.capacity.line import EVERY, Line, Unknown
from paddlespec.capacity.placement import placed

if TYPE_CHECKING:
    from paddlespec.capacity.limit import Limit
    from paddlespec.capacity.need import Need
    from paddlespec.capacity.node import Node
    from paddlespec.capacity.queue import Queue
    from paddlespec.capacity.quota import Quota

_OF_QUEUES = (queue.KUEUE, queue.VOLCANO, queue.CLUSTER_QUEUES)


class Room(NamedTuple):
    """The limits of a namespace; `held` counts the pods that the job already has."""

    namespace: str
    quotas: tuple[Quota, ...] = ()
    limits: tuple[Limit, ...] = ()
    queues: tuple[Queue, ...] = ()
    nodes: tuple[Node, ...] | None = None
    unknown: tuple[Unknown, ...] = ()
    held: int = 0


class Feasible(NamedTuple):
    """Whether a job fits right now: a line for each limit, or `trouble` if nothing could be read."""

    lines: tuple[Line, ...]
    trouble: str | None = None
    note: str | None = None


def lines(room: Room) -> list[Line]:
    """Return all limits, and what is left of them."""
    result = [line for item in room.quotas for line in quota.lines(item)]
    result += [limits.line(item) for item in room.limits]
    return result + [line for item in room.queues for line in queue.lines(item)]


def lines_with_need(room: Room, need: Need) -> list[Line]:
    """Compare *need* with all limits, including those that cannot be read."""
    admitted = need._replace(
        groups=tuple(
            group._replace(pod=limits.defaulted(group.pod, room.limits)) for group in need.groups
        )
    )
    result = [line for item in room.quotas for line in quota.lines_with_need(item, admitted)]
    result += [limits.line_with_need(item, admitted) for item in room.limits]
    hidden = {item.what for item in room.unknown}
    result += queue.lines_with_need(room.queues, admitted, room.namespace, hidden)
    if room.nodes is not None:
        result += placed(admitted.groups, room.nodes)
    # Unreadable queues are reported only if the job names one.
    unknown = [item for item in room.unknown if item.what not in _OF_QUEUES]
    return result + [
        Line(item.what, EVERY, None, reason=f"unknown: {item.reason}") for item in unknown
    ]
