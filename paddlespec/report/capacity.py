"""Quotas, queues, storages and resources as tables and as plain data with all keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.quantity import as_amount, as_short
from paddlespec.report.table import Column, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from paddlespec.capacity.holding import Holding
    from paddlespec.capacity.line import Line, Unknown
    from paddlespec.capacity.queue import Queue, Share

Json = dict[str, Any]
FITS = {True: "yes", False: "no", None: "unknown"}


def lines(
    found: Sequence[Line], *, spaces: bool, is_asked: bool, wide: bool, width: int | None
) -> str:
    """Quotas and what else bounds a namespace; with *is_asked* what a job needs of them."""
    heads = [Column("NAMESPACE", wide=not spaces), Column("KIND"), Column("NAME")]
    heads += [Column("RESOURCE"), *(Column(each, right=True) for each in ("USED", "HARD", "FREE"))]
    needs = (Column("NEED", right=True), Column("SHORT", right=True), Column("FITS"))
    heads += [*(needs if is_asked else ()), Column("WHY" if is_asked else "NOTE", cut=True)]
    rows = []
    for each in found:
        row = [each.namespace or "", each.kind, each.name, each.resource or ""]
        row += [_cell(each.resource, amount) for amount in (each.used, each.hard, each.free)]
        if is_asked:
            row += [_cell(each.resource, amount) for amount in (each.need, each.short)]
            row += [FITS[each.fits]]
        rows.append([*row, "" if each.fits else each.reason or ""])
    return table(heads, rows, wide=wide, width=width)


def line_data(line: Line) -> Json:
    """A line as plain data; amounts as Kubernetes writes them, all of their digits."""
    amounts = {key: getattr(line, key) for key in ("used", "hard", "free", "need", "short")}
    return {
        "namespace": line.namespace,
        "kind": line.kind,
        "name": line.name,
        "resource": line.resource,
        **{key: _exact(line.resource, amount) for key, amount in amounts.items()},
        "fits": line.fits,
        "reason": line.reason,
    }


def unknown_data(found: Sequence[Unknown]) -> list[Json]:
    """What nobody may look at, and why."""
    return [{"what": each.what, "reason": each.reason} for each in found]


def queues(found: Sequence[Queue], *, spaces: bool, wide: bool, width: int | None) -> str:
    """A row for each share of each queue."""
    columns = (
        Column("NAMESPACE", wide=not spaces),
        Column("NAME"),
        Column("SCHEDULER"),
        Column("CLUSTER-QUEUE", wide=True),
        Column("STATE"),
        *(Column(each, right=True) for each in ("PENDING", "RUNNING")),
        Column("RESERVING", right=True, wide=True),
        Column("WEIGHT", right=True, wide=True),
        Column("FLAVOR"),
        Column("RESOURCE"),
        *(Column(each, right=True) for each in ("USED", "QUOTA", "FREE")),
        Column("REASON", wide=True),
    )
    rows = []
    for each in found:
        head = [each.namespace or "", each.name, each.scheduler, each.cluster_queue or ""]
        counts = (each.pending, each.running, each.reserving, each.weight)
        head += [each.state, *("" if count is None else str(count) for count in counts)]
        for share in each.shares or (None,):
            rows.append([*head, *_share(share), each.reason or ""])
    return table(columns, rows, wide=wide, width=width)


def _share(share: Share | None) -> list[str]:
    if share is None:
        return [""] * 5
    amounts = (share.used, share.quota, share.free)
    cells = [_cell(share.resource, each) for each in amounts]
    return [share.flavor or "", share.resource, *cells]


def queue_data(queue: Queue) -> Json:
    """A queue as plain data; its resources are null where one may not look."""
    return {
        "namespace": queue.namespace,
        "name": queue.name,
        "scheduler": queue.scheduler,
        "clusterQueue": queue.cluster_queue,
        "cohort": queue.cohort,
        "state": queue.state,
        "reason": queue.reason,
        "weight": queue.weight,
        "pending": queue.pending,
        "running": queue.running,
        "reserving": queue.reserving,
        "resources": None
        if queue.shares is None
        else [
            {
                "flavor": each.flavor,
                "resource": each.resource,
                "quota": _exact(each.resource, each.quota),
                "used": _exact(each.resource, each.used),
                "free": _exact(each.resource, each.free),
            }
            for each in queue.shares
        ],
    }


def holdings(found: Sequence[Holding], *, places: bool, wide: bool, width: int | None) -> str:
    """What nodes and queues hold, a row for each resource."""
    columns = (
        Column("DATACENTER", wide=not places),
        Column("KIND"),
        Column("NAME"),
        Column("STATE"),
        Column("RESOURCE"),
        *(Column(each, right=True) for each in ("CAPACITY", "ALLOCATABLE", "USED", "FREE")),
        Column("REASON", wide=all(each.resource for each in found), cut=True),
    )
    rows = []
    for each in found:
        amounts = (each.capacity, each.allocatable, each.used, each.free)
        cells = [_cell(each.resource, amount) for amount in amounts]
        head = [each.datacenter or "", each.kind, each.name, each.state, each.resource or ""]
        rows.append([*head, *cells, each.reason or ""])
    return table(columns, rows, wide=wide, width=width)


def holding_data(holding: Holding) -> Json:
    """A row of resources as plain data."""
    amounts = {key: getattr(holding, key) for key in ("capacity", "allocatable", "used", "free")}
    return {
        "datacenter": holding.datacenter,
        "kind": holding.kind,
        "name": holding.name,
        "state": holding.state,
        "resource": holding.resource,
        **{key: _exact(holding.resource, amount) for key, amount in amounts.items()},
        "reason": holding.reason,
    }


def _cell(resource: str | None, amount: Decimal | None) -> str:
    return "" if amount is None else as_short(resource or "", amount)


def _exact(resource: str | None, amount: Decimal | None) -> str | None:
    return None if amount is None else as_amount(resource or "", amount)
