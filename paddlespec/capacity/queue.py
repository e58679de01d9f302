"""Queues of Kueue and Volcano: their quota, and whether they would admit a job right now."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.capacity.demand import demand
from paddlespec.capacity.line import Line, left, with_need

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from paddlespec.capacity.demand import Amounts
    from paddlespec.capacity.line import Unknown
    from paddlespec.capacity.need import Group, Need

KUEUE, VOLCANO = "kueue", "volcano"
CLUSTER_QUEUES = "cluster queues"
ACTIVE, STOPPED = "active", "stopped"
_ZERO = Decimal(0)


class Share(NamedTuple):
    """
    The quota of a queue for one resource, in one flavor of nodes.

    `quota` is None if it is unlimited or cannot be read. `group`: a pod takes all resources of one
    group from the same flavor. `lent`: how much more can be borrowed from the cohort; None is
    unlimited.
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
    A queue that jobs may name: its waiting and running workloads, and its shares.

    `shares` is None if they cannot be read; `namespace` is None for queues of Volcano, which all
    namespaces share.
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


class Queues(NamedTuple):
    """The queues that jobs can name, and the served versions of Kueue and Volcano."""

    queues: tuple[Queue, ...]
    kueue: str | None
    volcano: str | None
    unknown: tuple[Unknown, ...] = ()


def lines(queue: Queue) -> list[Line]:
    """Return a line for each share."""
    return [_line(queue, share) for share in queue.shares or ()]


def lines_with_need(
    queues: Sequence[Queue], need: Need, namespace: str, hidden: Collection[str] = ()
) -> list[Line]:
    """
    Compare *need* with the queues that it names in *namespace*; empty if it names none.

    *hidden* are the schedulers whose queues cannot be listed.
    """
    result: list[Line] = []
    groups: dict[tuple[str, str], list[Group]] = defaultdict(list)
    for group in need.groups:
        if group.queue is not None:
            groups[KUEUE, group.queue].append(group)
        elif need.queue is not None:
            groups[VOLCANO, need.queue].append(group)
    for (scheduler, name), own in groups.items():
        queue = next(
            (
                queue
                for queue in queues
                if (queue.scheduler, queue.name) == (scheduler, name)
                and queue.namespace in (None, namespace)
            ),
            None,
        )
        result += (
            _lines_with_need(queue, own) if queue else [_absent(scheduler, name, namespace, hidden)]
        )
    return result


def _absent(scheduler: str, name: str, namespace: str, hidden: Collection[str]) -> Line:
    line = Line(scheduler, name, None, namespace=namespace)
    if scheduler in hidden:
        return line._replace(reason="unknown: you may not list queues")
    return line._replace(fits=False, reason=f"queue {name} does not exist")


def _lines_with_need(queue: Queue, groups: Sequence[Group]) -> Iterator[Line]:
    whole = Line(queue.scheduler, queue.name, None, namespace=queue.namespace)
    if queue.state != ACTIVE:
        reason = f"queue is {queue.state}" + (f": {queue.reason}" if queue.reason else "")
        yield whole._replace(fits=False, reason=reason)
    if queue.shares is None:
        reason = f"unknown: you may not read {queue.cluster_queue or queue.name}"
        yield whole._replace(reason=reason)
        return
    need, uncovered = _assigned(queue, queue.shares, groups)
    for share in queue.shares:
        yield _lendable(with_need(_line(queue, share), need[share]), share, queue)
    for name, amount in uncovered.items():
        line = whole._replace(resource=name, need=amount, short=amount, fits=False)
        yield line._replace(reason=f"the queue has no {name}")


def _lendable(line: Line, share: Share, queue: Queue) -> Line:
    """Account for a shortage that can be borrowed; other queues of the cohort are not known."""
    if share.quota is None and line.need:
        return line._replace(fits=True) if share.used is not None else line
    if line.short and _may_borrow(queue, share, line.short):
        reason = f"the rest must be borrowed from cohort {queue.cohort}"
        return line._replace(fits=None, reason=reason)
    return line


def _assigned(
    queue: Queue, shares: Sequence[Share], groups: Sequence[Group]
) -> tuple[dict[Share, Decimal], Amounts]:
    """
    Assign what *groups* need to shares; also return what no share offers.

    As in Kueue, identical pods take all their resources of one group from the same flavor.
    """
    need: dict[Share, Decimal] = defaultdict(Decimal)
    uncovered: dict[str, Decimal] = defaultdict(Decimal)
    flavors: dict[int, dict[str | None, list[Share]]] = defaultdict(lambda: defaultdict(list))
    for share in shares:
        flavors[share.group][share.flavor].append(share)
    for group in groups:
        total = {name: amount * group.replicas for name, amount in demand(group.pod).items()}
        total["pods"] = Decimal(group.replicas)
        for own in flavors.values():
            for share in _chosen(queue, list(own.values()), total, need):
                need[share] += total.get(share.resource, _ZERO)
        for name in total.keys() - {share.resource for share in shares} - {"pods"}:
            if queue.scheduler == KUEUE and total[name]:
                uncovered[name] += total[name]
    return need, uncovered


def _chosen(
    queue: Queue, flavors: Sequence[list[Share]], total: Amounts, need: Mapping[Share, Decimal]
) -> list[Share]:
    """Choose the first flavor that has enough, else the first that can borrow, else the first."""

    def suffices(shares: Sequence[Share], *, borrowing: bool) -> bool:
        for share in shares:
            asked_for = total.get(share.resource)
            if share.free is None or not asked_for:
                continue
            short = need.get(share, _ZERO) + asked_for - share.free
            if short > 0 and not (borrowing and _may_borrow(queue, share, short)):
                return False
        return True

    enough = (shares for shares in flavors if suffices(shares, borrowing=False))
    borrowed = (shares for shares in flavors if suffices(shares, borrowing=True))
    return next(enough, None) or next(borrowed, None) or flavors[0]


def _may_borrow(queue: Queue, share: Share, amount: Decimal) -> bool:
    return bool(queue.cohort) and (share.lent is None or amount <= share.lent)


def _line(queue: Queue, share: Share) -> Line:
    name = f"{queue.name}/{share.flavor}" if share.flavor else queue.name
    line = Line(queue.scheduler, name, share.resource, share.used, share.quota, share.free)
    return line._replace(namespace=queue.namespace)
