"""All that bounds the jobs of a namespace, as far as somebody may look at it."""

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
    """What there is; `held` counts the pods that the job has already, `nodes` may be left out."""

    namespace: str
    quotas: tuple[Quota, ...] = ()
    limits: tuple[Limit, ...] = ()
    queues: tuple[Queue, ...] = ()
    nodes: tuple[Node, ...] | None = None
    unknown: tuple[Unknown, ...] = ()
    held: int = 0


class Feasible(NamedTuple):
    """Whether a job has room now: each thing that it needs, or why nobody could tell."""

    lines: tuple[Line, ...]
    trouble: str | None = None
    note: str | None = None


def lines(room: Room) -> list[Line]:
    """What there is, and what is left of it."""
    found = [line for each in room.quotas for line in quota.lines(each)]
    found += [limits.line(each) for each in room.limits]
    return found + [line for each in room.queues for line in queue.lines(each)]


def wanted(room: Room, need: Need) -> list[Line]:
    """What *need* asks of all that, what nobody may look at included."""
    admitted = need._replace(
        groups=tuple(
            each._replace(pod=limits.defaulted(each.pod, room.limits)) for each in need.groups
        )
    )
    found = [line for each in room.quotas for line in quota.wanted(each, admitted)]
    found += [limits.wanted(each, admitted) for each in room.limits]
    hidden = {each.what for each in room.unknown}
    found += queue.wanted(room.queues, admitted, room.namespace, hidden)
    if room.nodes is not None:
        found += placed(admitted.groups, room.nodes)
    # What is not known of queues is told of those alone that the job names.
    told = [each for each in room.unknown if each.what not in _OF_QUEUES]
    return found + [Line(each.what, EVERY, None, reason=f"unknown: {each.reason}") for each in told]
