"""
Everything about one job of a cluster: conditions, events, why it failed.

The server's own texts quote values of the environment: of them only names are shown whose form is
known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.backend import OperationFailed, Run, Work
from paddlespec.cluster import readiness, watch
from paddlespec.cluster.jobs import find, state
from paddlespec.cluster.replicas import word, workers
from paddlespec.cluster.wanted import is_job, is_owner
from paddlespec.cluster.why import creation, scheduler
from paddlespec.cluster.why.ask import Asking
from paddlespec.cluster.why.explain import explained
from paddlespec.manifest import identity, role
from paddlespec.picture import Condition, Happening, JobState, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cluster.client import Client
    from paddlespec.cluster.jobs import Found
    from paddlespec.cluster.why.evidence import Ask
    from paddlespec.manifest import Manifest
    from paddlespec.picture import Worker

# Events of every pod would be a request for each; those of a few tell the story.
_PODS = 3
_TEXTS = (
    ("to node {}", re.compile(r"Successfully assigned \S+ to ([a-z0-9.-]*[a-z0-9])\Z")),
    ("pod {}", re.compile(r"Created pod: ([a-z0-9.-]*[a-z0-9])\Z")),
)
_FRACTION = re.compile(r"\.\d+(?=Z\Z)")


def status(client: Client, name: str) -> Status:
    """Everything about the job *name*; raises `NotFound`."""
    found = find(client, name)
    own = workers(found.pods or ())
    ask = Asking(client, found.namespace)
    events = _events(client, ask, found, own)
    job, evidence = explained(state(found), found, ask)
    return Status(
        job,
        found.record,
        own,
        tuple(_conditions(found)),
        tuple(events),
        _failure(client, found, job),
        evidence,
    )


def happening(event: Manifest) -> Happening:
    """An event in our own words."""
    involved = event.get("involvedObject") or {}
    series = event.get("series") or {}
    at = event.get("lastTimestamp") or series.get("lastObservedTime") or event.get("eventTime")
    return Happening(
        _FRACTION.sub("", str(at)) if at else None,
        f"{word(involved.get('kind')) or 'Object'}/{involved.get('name')}",
        word(event.get("reason")) or "Unknown",
        _text(str(event.get("message") or "")),
        event.get("count") or series.get("count") or 1,
        event.get("type") == "Warning",
    )


def _text(message: str) -> str | None:
    for words, pattern in _TEXTS:
        if match := pattern.search(message):
            return words.format(match[1])
    return creation.words(message) or scheduler.summary(message)


def _events(client: Client, ask: Ask, found: Found, own: tuple[Worker, ...]) -> list[Happening]:
    """The events of the workloads, and of a few pods that have something to tell."""
    telling = [each.name for each in own if each.message][:_PODS]
    pods = [each for each in found.pods or () if each["metadata"]["name"] in telling]
    uids = [each["metadata"]["uid"] for each in (*found.workloads, *pods)]
    listed = [happening(event) for events in client.each(ask.events, uids) for event in events]
    return sorted(listed, key=lambda each: each.at or "")


def _conditions(found: Found) -> Iterator[Condition]:
    for each in found.workloads:
        for held in (each.get("status") or {}).get("conditions") or ():
            name = word(held.get("type"))
            if held.get("status") == "True" and name:
                since = held.get("lastTransitionTime")
                yield Condition(str(identity(each)), name, since, word(held.get("reason")))


def _failure(client: Client, found: Found, job: JobState) -> str | None:
    """The end of a run that failed: why, the replica that failed first, its last lines."""
    if not job.stage.is_failure:
        return None
    bad: list[tuple[Manifest, Any]] = [
        (each, progress)
        for each in found.workloads
        if is_job(each) and not (progress := readiness.job(each)).ok
    ]
    if not bad:
        return None
    workload, progress = min(bad, key=lambda each: not is_owner(each[0]))
    pods: dict[str, list[Manifest]] = {}
    for each in found.pods or ():
        pods.setdefault(role(each) or "", []).append(each)
    run = Run(Work(found.name, []), found.namespace, workload["metadata"]["uid"])
    try:
        failed = watch.failure(client, run, watch.Live({}, pods), workload, progress.message)
    except OperationFailed:
        return None
    return failed.message
