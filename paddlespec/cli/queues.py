"""`get queues`: what Kueue and Volcano have, and who waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.cli import jobs, listing, options, reach
from paddlespec.cli.exits import Exit

if TYPE_CHECKING:
    from paddlespec.cluster.queues import Queues


def queues(
    everywhere: reach.Everywhere = False,
    watch: jobs.Watch = False,
    output: listing.Form = "table",
    datacenter: reach.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show the queues that jobs may name: local queues of Kueue, and the queues of Volcano.

    PENDING and RUNNING count workloads, or pod groups. What a local queue may use is the quota of
    its cluster queue; where you may not read that, only its own count is known.

    \b
    paddlespec get queues
    paddlespec get queues -A -o wide
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import note
    from paddlespec.cluster import queues as seen

    listing.check(output)
    with Engines(kubeconfig, context, namespace, None) as engines:
        client = reach.client(engines, datacenter)
        space = reach.space(client, namespace, everywhere=everywhere)
        last = seen.queues(client, space)
        if watch:

            def again() -> list[Any]:
                nonlocal last
                last = seen.queues(client, space)
                return list(last.queues)

            jobs.watch_list(
                again,
                lambda each: (each.scheduler, each.namespace or "", each.name),
                lambda found: _forms(last._replace(queues=tuple(found)), space),
                client.pause,
                output,
            )
    reach.tell(last.unknown)
    if not last.queues and output in ("table", "wide"):
        served = [name for name in ("kueue", "volcano") if getattr(last, name)]
        place = f" in namespace {space}" if space else ""
        has = f"{' and '.join(served)} have no queue{place}" if served else ""
        note(has or "the cluster has neither Kueue nor Volcano: no queue bounds its jobs")
    listing.show(output, *_forms(last, space))
    return Exit.done


def _forms(found: Queues, space: str) -> tuple[Any, Any, Any]:
    """Queues as data, as names, and as a table."""
    from paddlespec.report.capacity import queue_data, unknown_data
    from paddlespec.report.capacity import queues as table

    data = {
        "namespace": space or None,
        "kueue": found.kueue,
        "volcano": found.volcano,
        "queues": [queue_data(each) for each in found.queues],
        "unknown": unknown_data(found.unknown),
    }
    return (
        lambda: data,
        lambda: [f"{each.scheduler}/{each.name}" for each in found.queues],
        lambda wide, width: table(found.queues, spaces=not space, wide=wide, width=width),
    )
