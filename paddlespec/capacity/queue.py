"""Queues of Kueue and Volcano: what they have, and what of a job they would admit now."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.capacity.line import Line, asked, left
from paddlespec.demand import demand

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from paddlespec.capacity.need import Group, Need
    from paddlespec.demand import Amounts

KUEUE, VOLCANO = "kueue", "volcano"
CLUSTER_QUEUES = "cluster queues"
ACTIVE, STOPPED = "active", "stopped"
_ZERO = Decimal(0)


class Share(NamedTuple):
    """
    How much of a resource a queue has, in a flavor of nodes.

    `quota` is None where nothing bounds it, or nobody may look. `group`: the resources of a pod
    that are in one group have to come from one flavor. `lent`: how much more may be borrowed in
    the cohort, without an end if None.
    """

    resource: str
    quota: Decimal | None
    used: Decimal | None
    flavor: str | None = None
    group: int = 0
    lent: Decimal | None = _ZERO

    @property
    def free(self) -> Decimal | None:
        return left(self.quota, self.used)


class Queue(NamedTuple):
    """
    A queue that jobs may name: how many workloads wait in it and run, and its shares.

    `shares` is None where nobody may look; `namespace` is None for the queues of Volcano, which
    all namespaces share.
    """

    scheduler: str
    name: str
    namespace: str | None = None
    cluster_queue: str | None = None
    state: str = ACTIVE
    reason: str | None = None
    weight: int | None = None
    cohort: str | None = None
    pending: int | None = None
    running: int | None = None
    reserving: int | None = None
    shares: tuple[Share, ...] | None = ()


def lines(queue: Queue) -> list[Line]:
    """One line for each share."""
    return [_line(queue, each) for each in queue.shares or ()]


def wanted(
    queues: Sequence[Queue], need: Need, namespace: str, hidden: Collection[str] = ()
) -> list[Line]:
    """
    What *need* asks of the queues that it names, in *namespace*; nothing where it names none.

    Of a scheduler that is *hidden* one may not list the queues.
    """
    found: list[Line] = []
    groups: dict[tuple[str, str], list[Group]] = defaultdict(list)
    for group in need.groups:
        if group.queue is not None:
            groups[KUEUE, group.queue].append(group)
        elif need.queue is not None:
            groups[VOLCANO, need.queue].append(group)
    for (scheduler, name), own in groups.items():
        queue = next(
            (
                each
                for each in queues
                if (each.scheduler, each.name) == (scheduler, name)
                and each.namespace in (None, namespace)
            ),
            None,
        )
        found += _wanted(queue, own) if queue else [_absent(scheduler, name, namespace, hidden)]
    return found


def _absent(scheduler: str, name: str, namespace: str, hidden: Collection[str]) -> Line:
    line = Line(scheduler, name, None, namespace=namespace)
    if scheduler in hidden:
        return line._replace(reason="unknown: you may not list queues")
    return line._replace(fits=False, reason=f"there is no queue {name}")


def _wanted(queue: Queue, groups: Sequence[Group]) -> Iterator[Line]:
    whole = Line(queue.scheduler, queue.name, None, namespace=queue.namespace)
    if queue.state != ACTIVE:
        told = f"it is {queue.state}" + (f": {queue.reason}" if queue.reason else "")
        yield whole._replace(fits=False, reason=told)
    if queue.shares is None:
        told = f"unknown: you may not look at {queue.cluster_queue or queue.name}"
        yield whole._replace(reason=told)
        return
    need, uncovered = _assigned(queue, queue.shares, groups)
    for share in queue.shares:
        yield _lendable(asked(_line(queue, share), need[share]), share, queue)
    for name, amount in uncovered.items():
        line = whole._replace(resource=name, need=amount, short=amount, fits=False)
        yield line._replace(reason=f"the queue has no {name}")


def _lendable(line: Line, share: Share, queue: Queue) -> Line:
    """What is short may still be borrowed of the cohort, whose other queues are not known here."""
    if share.quota is None and line.need:
        return line._replace(fits=True) if share.used is not None else line
    if line.short and _may_borrow(queue, share, line.short):
        told = f"the rest would have to be borrowed in the cohort {queue.cohort}"
        return line._replace(fits=None, reason=told)
    return line


def _assigned(
    queue: Queue, shares: Sequence[Share], groups: Sequence[Group]
) -> tuple[dict[Share, Decimal], Amounts]:
    """
    What each share would have to give, and what no share has.

    As Kueue does, equal pods take all of their resources of a group from one flavor.
    """
    need: dict[Share, Decimal] = defaultdict(Decimal)
    uncovered: dict[str, Decimal] = defaultdict(Decimal)
    flavors: dict[int, dict[str | None, list[Share]]] = defaultdict(lambda: defaultdict(list))
    for share in shares:
        flavors[share.group][share.flavor].append(share)
    for group in groups:
        total = {name: each * group.replicas for name, each in demand(group.pod).items()}
        total["pods"] = Decimal(group.replicas)
        for own in flavors.values():
            for share in _chosen(queue, list(own.values()), total, need):
                need[share] += total.get(share.resource, _ZERO)
        for name in total.keys() - {each.resource for each in shares} - {"pods"}:
            if queue.scheduler == KUEUE and total[name]:
                uncovered[name] += total[name]
    return need, uncovered


def _chosen(
    queue: Queue, flavors: Sequence[list[Share]], total: Amounts, need: Mapping[Share, Decimal]
) -> list[Share]:
    """The first flavor that has enough, or else could borrow it, or else the first of all."""

    def holds(shares: Sequence[Share], *, borrowing: bool) -> bool:
        for share in shares:
            asked_for = total.get(share.resource)
            if share.free is None or not asked_for:
                continue
            short = need.get(share, _ZERO) + asked_for - share.free
            if short > 0 and not (borrowing and _may_borrow(queue, share, short)):
                return False
        return True

    enough = (each for each in flavors if holds(each, borrowing=False))
    borrowed = (each for each in flavors if holds(each, borrowing=True))
    return next(enough, None) or next(borrowed, None) or flavors[0]


def _may_borrow(queue: Queue, share: Share, amount: Decimal) -> bool:
    return bool(queue.cohort) and (share.lent is None or amount <= share.lent)


def _line(queue: Queue, share: Share) -> Line:
    name = f"{queue.name}/{share.flavor}" if share.flavor else queue.name
    line = Line(queue.scheduler, name, share.resource, share.used, share.quota, share.free)
    return line._replace(namespace=queue.namespace)
