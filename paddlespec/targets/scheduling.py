"""Queues and gang scheduling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.workloads.live import QUEUE_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job

GANG, QUEUE = ("spec", "scheduling", "gang"), ("spec", "scheduling", "queue")


def check_scheduling(facts: Facts) -> Iterator[Diagnostic]:
    """Report gangs and queues that the scheduler does not support, and a missing queue."""
    scheduling = facts.job.spec.scheduling
    if scheduling.scheduler == "kueue" and not scheduling.queue:
        message = "Kueue needs a queue; without one, the job bypasses every quota"
        hint = "set `scheduling.queue`, or `queues.default` of the datacenter"
        yield facts.error("queue", message, (*QUEUE[:-1], "scheduler"), hint)
    if scheduling.scheduler != "default":
        return
    if scheduling.gang:
        hint = "use `scheduler: volcano` or `scheduler: kueue`"
        message = "the default scheduler does not support gang scheduling"
        yield facts.error("unsupported", message, GANG, hint)
    if scheduling.queue:
        hint = "use `scheduler: kueue` or `scheduler: volcano`"
        message = "the default scheduler does not support queues"
        yield facts.error("unsupported", message, QUEUE, hint)


def queued(job: Job, metadata: dict[str, Any]) -> dict[str, Any]:
    """Add the label of the Kueue queue, if any, to the metadata of a workload."""
    scheduling = job.spec.scheduling
    if scheduling.scheduler != "kueue" or not scheduling.queue:
        return metadata
    return {**metadata, "labels": {**metadata["labels"], QUEUE_LABEL: scheduling.queue}}
