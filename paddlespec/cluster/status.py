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
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.replicas import word, workers
from paddlespec.cluster.wanted import is_job, is_owner
from paddlespec.manifest import identity, role
from paddlespec.picture import Condition, Doing, Happening, JobState, Stage, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cluster.client import Client
    from paddlespec.cluster.jobs import Found
    from paddlespec.manifest import Manifest
    from paddlespec.picture import Worker

# Events of every pod would be a request for each; those of a few tell the story.
_PODS = 3
_TEXTS = (
    re.compile(r"exceeded quota: (?P<quota>[a-z0-9.-]*[a-z0-9])"),
    re.compile(r"no PriorityClass with name (?P<priority>[a-z0-9.-]*[a-z0-9])"),
    re.compile(r"Successfully assigned \S+ to (?P<node>[a-z0-9.-]*[a-z0-9])\Z"),
    re.compile(r"Created pod: (?P<pod>[a-z0-9.-]*[a-z0-9])\Z"),
    re.compile(r"(?P<few>\d+/\d+ nodes are available)"),
)
_WORDS = {
    "quota": "exceeds the quota {}",
    "priority": "there is no priority class {}",
    "node": "to node {}",
    "pod": "pod {}",
    "few": "{}",
}
_FRACTION = re.compile(r"\.\d+(?=Z\Z)")


def status(client: Client, name: str) -> Status:
    """Everything about the job *name*; raises `NotFound`."""
    found = find(client, name)
    own = workers(found.pods or ())
    events = _events(client, found, own)
    job = _explained(state(found), found, own, events)
    return Status(
        job,
        found.record,
        own,
        tuple(_conditions(found)),
        tuple(events),
        _failure(client, found, job),
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
    for each in _TEXTS:
        if match := each.search(message):
            ((key, value),) = match.groupdict().items()
            return _WORDS[key].format(value)
    return None


def _events(client: Client, found: Found, own: tuple[Worker, ...]) -> list[Happening]:
    """The events of the workloads, and of a few pods that have something to tell."""
    telling = [each.name for each in own if each.message][:_PODS]
    pods = [each for each in found.pods or () if each["metadata"]["name"] in telling]
    uids = [each["metadata"]["uid"] for each in (*found.workloads, *pods)]

    def of(uid: str) -> list[Manifest]:
        try:
            return client.find("v1", "Event", found.namespace, fields=f"involvedObject.uid={uid}")
        except Refused:
            return []  # without the right to read them the rest is worth telling

    listed = [happening(event) for events in client.each(of, uids) for event in events]
    return sorted(listed, key=lambda each: each.at or "")


def _explained(
    job: JobState, found: Found, own: tuple[Worker, ...], events: list[Happening]
) -> JobState:
    """With what keeps the replicas of each role that are not ready."""
    if job.stage.is_over or job.stage in (Stage.suspended, Stage.queued, Stage.stopping):
        return job
    roles = []
    for each in job.roles:
        pods = [one for one in own if one.role == each.name and one.state is not Doing.stopping]
        hindered = [one.message for one in pods if one.state is Doing.pending and one.message]
        if not hindered and len(pods) < each.desired:
            hindered = _refused(found, each.name, events)
        roles.append(each._replace(why=hindered[0]) if hindered else each)
    why = next((each.why for each in roles if each.why), None)
    return job._replace(
        roles=tuple(roles), why=job.why or (why if job.stage is Stage.pending else None)
    )


def _refused(found: Found, name: str, events: list[Happening]) -> list[str]:
    """Why a workload has fewer pods than it wants: no condition says so, only events do."""
    own = {str(identity(each)) for each in found.workloads if role(each) == name}
    told = [each for each in events if each.subject in own and each.reason == "FailedCreate"]
    return [f"pods cannot be created: {each.text or 'see its events'}" for each in told[-1:]]


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
