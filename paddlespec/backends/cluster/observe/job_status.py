"""
Read everything about one job of a cluster: conditions, events, the cause of a failure.

Messages of the server may quote environment values, so only names in known formats are copied from
them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.api.pods import one_word
from paddlespec.backends.cluster.observe import watch
from paddlespec.backends.cluster.observe.job_states import find, state
from paddlespec.backends.cluster.observe.replicas import workers
from paddlespec.backends.cluster.why import creation, scheduler
from paddlespec.backends.cluster.why.ask import Asking
from paddlespec.backends.cluster.why.explain import explained
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.state import (
    Condition,
    JobState,
    ObjectEvent,
    Status,
)
from paddlespec.runs.values import Run, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.observe.job_states import JobObjects
    from paddlespec.backends.cluster.why.evidence import Ask
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.state import Worker

# Reading events takes a request per pod; those of a few pods are enough.
_PODS = 3
_TEXTS = (
    ("to node {}", re.compile(r"Successfully assigned \S+ to ([a-z0-9.-]*[a-z0-9])\Z")),
    ("pod {}", re.compile(r"Created pod: ([a-z0-9.-]*[a-z0-9])\Z")),
)
_FRACTION = re.compile(r"\.\d+(?=Z\Z)")


def status(client: Client, name: str) -> Status:
    """Return everything about the job *name*; raises `NotFound`."""
    objects = find(client, name)
    own = workers(objects.pods or ())
    ask = Asking(client, objects.namespace)
    events = _events(client, ask, objects, own)
    job, evidence = explained(state(objects), objects, ask)
    return Status(
        job,
        objects.record,
        own,
        tuple(_conditions(objects)),
        tuple(events),
        _failure(client, objects, job),
        evidence,
    )


def object_event(event: Manifest) -> ObjectEvent:
    """Translate an event into our own wording."""
    involved = event.get("involvedObject") or {}
    series = event.get("series") or {}
    at = event.get("lastTimestamp") or series.get("lastObservedTime") or event.get("eventTime")
    return ObjectEvent(
        _FRACTION.sub("", str(at)) if at else None,
        f"{one_word(involved.get('kind')) or 'Object'}/{involved.get('name')}",
        one_word(event.get("reason")) or "Unknown",
        _text(str(event.get("message") or "")),
        event.get("count") or series.get("count") or 1,
        event.get("type") == "Warning",
    )


def _text(message: str) -> str | None:
    for template, pattern in _TEXTS:
        if match := pattern.search(message):
            return template.format(match[1])
    return creation.refusal_reason(message) or scheduler.summary(message)


def _events(
    client: Client, ask: Ask, objects: JobObjects, own: tuple[Worker, ...]
) -> list[ObjectEvent]:
    """Return the events of the workloads, their children, and a few pods that have a message."""
    telling = [worker.name for worker in own if worker.message][:_PODS]
    pods = [pod for pod in objects.pods or () if pod["metadata"]["name"] in telling]
    uids = [live["metadata"]["uid"] for live in (*objects.workloads, *objects.children, *pods)]
    listed = [object_event(event) for events in client.each(ask.events, uids) for event in events]
    return sorted(listed, key=lambda event: event.at or "")


def _conditions(objects: JobObjects) -> Iterator[Condition]:
    for workload in (*objects.workloads, *objects.children):
        for held in (workload.get("status") or {}).get("conditions") or ():
            name = one_word(held.get("type"))
            if held.get("status") == "True" and name:
                since = held.get("lastTransitionTime")
                yield Condition(str(identity(workload)), name, since, one_word(held.get("reason")))


def _failure(client: Client, objects: JobObjects, job: JobState) -> str | None:
    """Describe why a run failed: the reason, the replica that failed first, and its last lines."""
    if not job.stage.is_failure:
        return None
    bad = [
        (live, progress)
        for live in objects.workloads
        if workloads.ends(live) and not (progress := workloads.progress(live)).ok
    ]
    if not bad:
        return None
    workload, progress = min(bad, key=lambda pair: pair[0] is not objects.owner)
    run = Run(Work(objects.name, []), objects.namespace, workload["metadata"]["uid"])
    live = watch.Live((*objects.workloads, *objects.children), objects.pods or ())
    try:
        failed = watch.failure(client, run, live, workload, progress.message)
    except OperationFailed:
        return None
    return "\n".join(failed.lines)
