"""One job on one screen: what runs, where from, each role, what happened, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.history import as_data
from paddlespec.picture import Doing, Stage
from paddlespec.report.jobs import job_data, lasted, worker_data
from paddlespec.report.moments import ago
from paddlespec.report.width import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from paddlespec.history import RunRecord
    from paddlespec.picture import Condition, Happening, RoleState, Status
    from paddlespec.shapes import jobs as shapes

_LABEL = 12
_EVENTS = 8


def status(
    found: Status, now: datetime, following: Sequence[str], *, width: int | None = None
) -> str:
    """*found* for people; *following* are the commands that come next."""
    lines = [*_lines(found, now)]
    if following:
        lines += ["", *(f"next:       {each}" for each in following)]
    return "".join(f"{_cut(visible(each), width).rstrip()}\n" for each in lines)


def brief(found: Status) -> str:
    """*found* in a line, for who sees every change of it."""
    job = found.job
    told = job.stage.value + (f": {job.why}" if job.why else "")
    return ", ".join([told, *(f"{each.name} {_role(each)}" for each in job.roles)])


def data(found: Status, following: Sequence[str]) -> shapes.Status:
    """*found* as plain data."""
    return {
        **job_data(found.job),
        "record": as_data(found.record) if found.record else None,
        "workers": [worker_data(each) for each in found.workers],
        "conditions": [_condition_data(each) for each in found.conditions],
        "events": [_event_data(each) for each in found.events],
        "failure": found.failure,
        "evidence": list(found.evidence),
        "next": list(following),
    }


def next_commands(found: Status, where: str = "") -> list[str]:
    """What a person is likely to want next; *where* are the options that name the place."""
    job, record = found.job, found.record
    name = f"{job.name}{where}"
    spec = record.provenance.file if record and record.provenance.file else "SPEC"
    target = " --target local" if job.target == "local" and "--target" not in where else ""
    apply = f"paddlespec apply {spec}{where}{target}"
    again = f"{apply} --rerun"
    logs = f"paddlespec logs {name}"
    pservers = job.role("pservers")
    match job.stage:
        case Stage.running:
            hindered = any(each.why for each in job.roles)
            return [f"paddlespec get workers {name} -o wide"] if hindered else [f"{logs} -f"]
        case Stage.pending | Stage.suspended | Stage.queued:
            return [
                f"paddlespec get workers {name} -o wide",
                f"paddlespec wait {name} --for ready",
            ]
        case Stage.failing:
            return [logs, f"paddlespec kill {name}"]
        case Stage.failed:
            return [logs, again]
        case Stage.succeeded if pservers is not None and pservers.ready:
            return [f"paddlespec kill {name}"]
        case Stage.succeeded:
            return [logs] if found.workers else [f"paddlespec get history {name}"]
        case Stage.stopping:
            return [f"paddlespec wait {name} --for deleted"]
        case Stage.intended:
            return [apply]
        case _:
            return [again]


def _lines(found: Status, now: datetime) -> Iterator[str]:
    job = found.job
    yield _row("job", f"{job.name} in namespace {job.namespace} (target {job.target})")
    mode = f"{job.mode}, " if job.mode else ""
    number = f"run {job.run}" if job.run is not None else "no run is recorded"
    yield _row("runs", f"{mode}{number}")
    yield _row("state", job.stage.value + (f": {job.why}" if job.why else ""))
    yield from (_row("evidence", each) for each in found.evidence)
    if took := _times(found, now):
        yield _row("time", took)
    if job.queue:
        yield _row("queue", job.queue)
    if found.record is not None:
        yield from _source(found.record)
    for each in job.roles:
        yield _row(each.name, _role(each))
    if found.failure:
        yield ""
        yield from found.failure.splitlines()
    elif hindered := [each for each in found.workers if each.message and each.state in _WORTH]:
        yield ""
        for worker in hindered[:3]:
            yield f"{worker.name}: {worker.message}"
        if len(hindered) > 3:
            yield f"and {len(hindered) - 3} more"
    if found.conditions:
        yield ""
        yield from (_row("condition", _condition(each, now)) for each in found.conditions)
    if found.events:
        yield ""
        yield from (_row("event", _event(each, now)) for each in found.events[-_EVENTS:])


_WORTH = (Doing.pending, Doing.failed, Doing.unknown)


def _row(label: str, text: str) -> str:
    return f"{label}:".ljust(_LABEL) + text


def _times(found: Status, now: datetime) -> str:
    job = found.job
    if not job.started:
        return ""
    took = lasted(job, now)
    so_far = f", took {took}" if job.stage.is_over else f", for {took}"
    end = f", ended {job.finished}" if job.finished else ""
    return f"began {job.started}{end}" + (so_far if took else "")


def _source(record: RunRecord) -> Iterator[str]:
    source = record.provenance
    commit = f"commit {source.commit[:12]}" if source.commit else ""
    dirty = " with changes that are not in it" if source.commit and source.dirty else ""
    parts = [source.file or "", f"{commit}{dirty}"]
    if told := ", ".join(each for each in parts if each):
        yield _row("spec", told)
    yield _row("applied by", source.who)
    if source.ci:
        yield _row("CI", source.ci)


def _role(role: RoleState) -> str:
    told = f"{role.ready}/{role.desired} ready"
    told += f", {role.succeeded} succeeded" if role.succeeded else ""
    told += f", {role.failed} failed" if role.failed else ""
    return told + (f" ({role.why})" if role.why else "")


def _condition(condition: Condition, now: datetime) -> str:
    reason = f" ({condition.reason})" if condition.reason else ""
    since = ago(condition.since, now)
    return f"{condition.subject} {condition.type}{reason}" + (f", {since} ago" if since else "")


def _event(event: Happening, now: datetime) -> str:
    when = f"{ago(event.at, now)} ago " if event.at else ""
    times = f" (x{event.times})" if event.times > 1 else ""
    mark = "warning " if event.warning else ""
    text = f": {event.text}" if event.text else ""
    return f"{when}{mark}{event.subject} {event.reason}{times}{text}"


def _condition_data(condition: Condition) -> shapes.Condition:
    return {
        "object": condition.subject,
        "type": condition.type,
        "reason": condition.reason,
        "since": condition.since,
    }


def _event_data(event: Happening) -> shapes.Event:
    return {
        "object": event.subject,
        "reason": event.reason,
        "message": event.text,
        "warning": event.warning,
        "count": event.times,
        "last": event.at,
    }


def _cut(line: str, width: int | None) -> str:
    return line if width is None else shortened(line, width)
