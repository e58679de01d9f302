"""Print one job on one screen: state, source, roles, conditions, events and next steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.report.jobs import UNCOUNTED, job_data, lasted, worker_data
from paddlespec.report.moments import ago
from paddlespec.report.states import painted
from paddlespec.report.width import shortened, visible
from paddlespec.runs.history import as_data
from paddlespec.runs.state import Stage, WorkerState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from paddlespec.runs.history import RunRecord
    from paddlespec.runs.state import (
        Condition,
        ObjectEvent,
        RoleState,
        Status,
    )
    from paddlespec.shapes import jobs as shapes

_LABEL = 12
_EVENTS = 8


def status(
    status: Status,
    now: datetime,
    following: Sequence[str],
    *,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Print *status* as text; *following* are the suggested next commands."""
    lines = [*_lines(status, now)]
    if following:
        lines += ["", *(f"next:       {command}" for command in following)]
    shown = [_cut(visible(line), width).rstrip() for line in lines]
    state = _row("state", "")
    if color:
        shown = [
            state + painted(line.removeprefix(state)) if line.startswith(state) else line
            for line in shown
        ]
    return "".join(f"{line}\n" for line in shown)


def brief(status: Status) -> str:
    """Print *status* on one line, for output that follows a job."""
    job = status.job
    state = job.stage.value + (f": {job.why}" if job.why else "")
    return ", ".join([state, *(f"{role.name} {_role(role)}" for role in job.roles)])


def data(status: Status, following: Sequence[str]) -> shapes.Status:
    """Return *status* as plain data."""
    return {
        **job_data(status.job),
        "record": as_data(status.record) if status.record else None,
        "workers": [worker_data(worker) for worker in status.workers],
        "conditions": [_condition_data(condition) for condition in status.conditions],
        "events": [_event_data(event) for event in status.events],
        "failure": status.failure,
        "evidence": list(status.evidence),
        "next": list(following),
    }


def next_commands(status: Status, where: str = "") -> list[str]:
    """Suggest the next commands; *where* are the options that select the cluster."""
    job, record = status.job, status.record
    name = f"{job.name}{where}"
    spec = record.provenance.file if record and record.provenance.file else "SPEC"
    target = " --target local" if job.target == "local" and "--target" not in where else ""
    apply = f"paddlespec apply {spec}{where}{target}"
    again = f"{apply} --rerun"
    logs = f"paddlespec logs {name}"
    lingers = any(role.name != "trainers" and role.ready for role in job.roles)
    match job.stage:
        case Stage.running:
            hindered = any(role.why for role in job.roles)
            return [f"paddlespec get workers {name} -o wide"] if hindered else [f"{logs} -f"]
        case Stage.pending | Stage.suspended | Stage.queued:
            return [
                f"paddlespec get workers {name} -o wide",
                f"paddlespec wait {name} --for ready",
            ]
        case Stage.failing:
            return [logs, f"paddlespec kill {name}"]
        case Stage.failed:
            # The logs of pods go with them.
            return [logs if status.workers else f"paddlespec get history {name}", again]
        case Stage.succeeded if lingers:
            return [f"paddlespec kill {name}"]
        case Stage.succeeded:
            return [logs] if status.workers else [f"paddlespec get history {name}"]
        case Stage.stopping:
            return [f"paddlespec wait {name} --for deleted"]
        case Stage.intended:
            return [apply]
        case _:
            return [again]


def _lines(status: Status, now: datetime) -> Iterator[str]:
    job = status.job
    yield _row("job", f"{job.name} in namespace {job.namespace} (target {job.target})")
    if job.mode:
        yield _row("mode", job.mode)
    yield _row("run", str(job.run) if job.run is not None else "not recorded")
    yield _row("state", job.stage.value + (f": {job.why}" if job.why else ""))
    yield from (_row("evidence", line) for line in status.evidence)
    if took := _times(status, now):
        yield _row("time", took)
    if job.queue:
        yield _row("queue", job.queue)
    if status.record is not None:
        yield from _source(status.record)
    for role in job.roles:
        yield _row(role.name, _role(role))
    if status.failure:
        yield ""
        yield from status.failure.splitlines()
    elif stuck := [
        worker for worker in status.workers if worker.message and worker.state in _STUCK
    ]:
        yield ""
        for worker in stuck[:3]:
            yield f"{worker.name}: {worker.message}"
        if len(stuck) > 3:
            yield f"and {len(stuck) - 3} more"
    if status.conditions:
        yield ""
        yield from (
            _row("condition", _condition(condition, now)) for condition in status.conditions
        )
    if status.events:
        yield ""
        yield from (_row("event", _event(event, now)) for event in status.events[-_EVENTS:])


_STUCK = (WorkerState.pending, WorkerState.failed, WorkerState.unknown)


def _row(label: str, text: str) -> str:
    return f"{label}:".ljust(_LABEL) + text


def _times(status: Status, now: datetime) -> str:
    job = status.job
    if not job.started:
        return ""
    took = lasted(job, now)
    length = f", took {took}" if job.stage.is_over else f", running for {took}"
    end = f", finished {job.finished}" if job.finished else ""
    return f"started {job.started}{end}" + (length if took else "")


def _source(record: RunRecord) -> Iterator[str]:
    source = record.provenance
    dirty = ", with uncommitted changes" if source.commit and source.dirty else ""
    if source.file:
        yield _row("spec", source.file)
    if source.commit:
        yield _row("commit", f"{source.commit[:12]}{dirty}")
    yield _row("applied by", source.who)
    if source.ci:
        yield _row("CI", source.ci)


def _role(role: RoleState) -> str:
    if not role.counted:
        return f"{role.desired}; {UNCOUNTED}"
    text = f"{role.ready}/{role.desired} ready"
    text += f", {role.succeeded} succeeded" if role.succeeded else ""
    text += f", {role.failed} failed" if role.failed else ""
    return text + (f" ({role.why})" if role.why else "")


def _condition(condition: Condition, now: datetime) -> str:
    reason = f" ({condition.reason})" if condition.reason else ""
    since = ago(condition.since, now)
    return f"{condition.subject} {condition.type}{reason}" + (f", {since} ago" if since else "")


def _event(event: ObjectEvent, now: datetime) -> str:
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


def _event_data(event: ObjectEvent) -> shapes.Event:
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
