"""`get queues`: the queues of Kueue and Volcano."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.listing import Listing

if TYPE_CHECKING:
    from paddlespec.capacity.queue import Queues


def queues(
    *,
    everywhere: listing.Everywhere = False,
    watch: listing.Watch = False,
    output: listing.Form = "table",
    datacenter: options.Datacenter = None,
    cluster: options.Cluster,
) -> int:
    """
    List the queues that jobs can name: Kueue's and Volcano's.

    PENDING and RUNNING count workloads, or pod groups. A local queue has the quota of its cluster
    queue; if you may not read that, only the local queue's own counts are shown.

    \b
    paddlespec get queues
    paddlespec get queues -A -o wide
    """
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.places import capacity_of
    from paddlespec.cli.shared.unknowns import note_unknown
    from paddlespec.cli.shared.watch import follow_list

    listing.check(output)
    with capacity_of(cluster, datacenter, "get queues", everywhere=everywhere) as place:
        last = place.capacity.queues(place.namespace)
        if watch:

            def again() -> list[Any]:
                nonlocal last
                last = place.capacity.queues(place.namespace)
                return list(last.queues)

            follow_list(
                again,
                lambda queue: (queue.scheduler, queue.namespace or "", queue.name),
                lambda shown: _listing(last._replace(queues=tuple(shown)), place.namespace),
                place.engine.pause,
                output,
            )
    note_unknown(last.unknown)
    if not last.queues and listing.is_table(output):
        served = [name for name in ("kueue", "volcano") if getattr(last, name)]
        where = f" in namespace {place.namespace}" if place.namespace else ""
        has = f"no queues of {' or '.join(served)}{where}" if served else ""
        note(has or "the cluster has neither Kueue nor Volcano, so it has no queues")
    listing.show(output, _listing(last, place.namespace))
    return Exit.done


def _listing(found: Queues, namespace: str) -> Listing:
    from paddlespec.report.capacity import queue_data, unknown_data
    from paddlespec.report.capacity import queues as table

    data = {
        "namespace": namespace or None,
        "kueue": found.kueue,
        "volcano": found.volcano,
        "queues": [queue_data(queue) for queue in found.queues],
        "unknown": unknown_data(found.unknown),
    }
    return Listing(
        lambda: data,
        lambda: [f"{queue.scheduler}/{queue.name}" for queue in found.queues],
        lambda wide, width: table(found.queues, spaces=not namespace, wide=wide, width=width),
    )
