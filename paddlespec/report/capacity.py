"""Print quotas, queues and resources as tables, or as plain data with all keys."""

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
    lines: Sequence[Line], *, spaces: bool, is_asked: bool, wide: bool, width: int | None
) -> str:
    """Print the limits of a namespace; *is_asked* adds what a job needs of each."""
    heads = [Column("NAMESPACE", wide=not spaces), Column("KIND"), Column("NAME")]
    heads += [Column("RESOURCE"), *(Column(head, right=True) for head in ("USED", "HARD", "FREE"))]
    needs = (Column("NEED", right=True), Column("SHORT", right=True), Column("FITS"))
    heads += [*(needs if is_asked else ()), Column("WHY" if is_asked else "NOTE", cut=True)]
    rows = []
    for line in lines:
        row = [line.namespace or "", line.kind, line.name, line.resource or ""]
        row += [_cell(line.resource, amount) for amount in (line.used, line.hard, line.free)]
        if is_asked:
            row += [_cell(line.resource, amount) for amount in (line.need, line.short)]
            row += [FITS[line.fits]]
        rows.append([*row, "" if line.fits else line.reason or ""])
    return table(heads, rows, wide=wide, width=width)


def line_data(line: Line) -> Json:
    """Return a limit as plain data; amounts are exact, in the notation of Kubernetes."""
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


def unknown_data(unknown: Sequence[Unknown]) -> list[Json]:
    """Return what could not be read, and why."""
    return [{"what": item.what, "reason": item.reason} for item in unknown]


def queues(queues: Sequence[Queue], *, spaces: bool, wide: bool, width: int | None) -> str:
    """Print a row for each flavor and resource of each queue."""
    columns = (
        Column("NAMESPACE", wide=not spaces),
        Column("NAME"),
        Column("SCHEDULER"),
        Column("CLUSTER-QUEUE", wide=True),
        Column("STATE"),
        *(Column(head, right=True) for head in ("PENDING", "RUNNING")),
        Column("RESERVING", right=True, wide=True),
        Column("WEIGHT", right=True, wide=True),
        Column("FLAVOR"),
        Column("RESOURCE"),
        *(Column(head, right=True) for head in ("USED", "QUOTA", "FREE")),
        Column("REASON", wide=True),
    )
    rows = []
    for queue in queues:
        head = [queue.namespace or "", queue.name, queue.scheduler, queue.cluster_queue or ""]
        counts = (queue.pending, queue.running, queue.reserving, queue.weight)
        head += [queue.state, *("" if count is None else str(count) for count in counts)]
        for share in queue.shares or (None,):
            rows.append([*head, *_share(share), queue.reason or ""])
    return table(columns, rows, wide=wide, width=width)


def _share(share: Share | None) -> list[str]:
    if share is None:
        return [""] * 5
    amounts = (share.used, share.quota, share.free)
    cells = [_cell(share.resource, amount) for amount in amounts]
    return [share.flavor or "", share.resource, *cells]


def queue_data(queue: Queue) -> Json:
    """Return a queue as plain data; its resources are null if they cannot be read."""
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
                "flavor": share.flavor,
                "resource": share.resource,
                "quota": _exact(share.resource, share.quota),
                "used": _exact(share.resource, share.used),
                "free": _exact(share.resource, share.free),
            }
            for share in queue.shares
        ],
    }


def holdings(holdings: Sequence[Holding], *, places: bool, wide: bool, width: int | None) -> str:
    """Print what nodes and queues hold, a row for each resource."""
    columns = (
        Column("DATACENTER", wide=not places),
        Column("KIND"),
        Column("NAME"),
        Column("STATE"),
        Column("RESOURCE"),
        *(Column(head, right=True) for head in ("CAPACITY", "ALLOCATABLE", "USED", "FREE")),
        Column("REASON", wide=all(holding.resource for holding in holdings), cut=True),
    )
    rows = []
    for holding in holdings:
        amounts = (holding.capacity, holding.allocatable, holding.used, holding.free)
        cells = [_cell(holding.resource, amount) for amount in amounts]
        head = [
            holding.datacenter or "",
            holding.kind,
            holding.name,
            holding.state,
            holding.resource or "",
        ]
        rows.append([*head, *cells, holding.reason or ""])
    return table(columns, rows, wide=wide, width=width)


def holding_data(holding: Holding) -> Json:
    """Return a row of resources as plain data."""
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
