"""Print jobs and their replicas as tables or as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from paddlespec.render.roles import PADDLE
from paddlespec.report.moments import ago, duration, moment
from paddlespec.report.table import Column, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from paddlespec.runs.state import JobState, RoleState, Worker
    from paddlespec.shapes import jobs as shapes

_T = TypeVar("_T")
UNCOUNTED = "counts were deleted with its objects"
_OTHERS = Column("OTHERS")
_SPACE = Column("NAMESPACE", cut=True)
_JOBS = (
    Column("NAME", cut=True),
    Column("MODE"),
    Column("STATE", states=True),
    Column("TRAINERS", right=True),
    Column("PSERVERS", right=True),
    _OTHERS,
    Column("DONE", right=True),
    Column("FAIL", right=True),
    Column("AGE", right=True),
    Column("TIME", right=True, wide=True),
    Column("QUEUE", wide=True),
    Column("START", wide=True),
    Column("COMPLETION", wide=True),
    Column("RUN", right=True, wide=True),
    Column("USER", wide=True),
)
_WORKERS = (
    Column("NAME", cut=True),
    Column("ROLE"),
    Column("RANK", right=True),
    Column("STATE", cut=True, states=True),
    Column("NODE", cut=True),
    Column("RESTARTS", right=True),
    Column("AGE", right=True),
    Column("EXIT", right=True),
    Column("ADDRESS", wide=True),
    Column("START", wide=True),
    Column("MESSAGE", wide=True, cut=True),
)


def jobs(
    jobs: Sequence[JobState],
    now: datetime,
    *,
    spaces: bool = False,
    wide: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Print a row for each job; *spaces* adds the namespaces."""
    columns = [*([_SPACE] if spaces else []), *_JOBS]
    rows = [[*([job.namespace] if spaces else []), *_job(job, now)] for job in jobs]
    if not any(map(_others, jobs)):
        unused = columns.index(_OTHERS)
        columns, rows = _without(columns, unused), [_without(row, unused) for row in rows]
    return table(columns, rows, wide=wide, width=width, color=color)


def workers(
    workers: Sequence[Worker],
    now: datetime,
    *,
    wide: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Print a row for each replica."""
    rows = [_worker(worker, now) for worker in workers]
    return table(_WORKERS, rows, wide=wide, width=width, color=color)


def job_data(job: JobState) -> shapes.Job:
    """Return a job as plain data."""
    return {
        "namespace": job.namespace,
        "name": job.name,
        "target": job.target,
        "mode": job.mode,
        "state": job.stage.value,
        "reason": job.why,
        "roles": {role.name: _role_data(role) for role in job.roles},
        "queue": job.queue,
        "started": job.started,
        "finished": job.finished,
        "run": job.run,
        "user": job.user,
        "labels": dict(job.labels),
    }


def worker_data(worker: Worker) -> shapes.Worker:
    """Return a replica as plain data."""
    return {
        "name": worker.name,
        "role": worker.role,
        "rank": worker.rank,
        "state": worker.state.value,
        "ready": worker.ready,
        "reason": worker.reason,
        "message": worker.message,
        "node": worker.node,
        "address": worker.address,
        "restarts": worker.restarts,
        "started": worker.started,
        "finished": worker.finished,
        "exitCode": worker.code,
    }


def lasted(job: JobState, now: datetime) -> str:
    """Format how long a job took or has been running; empty if unknown."""
    start, end = moment(job.started), moment(job.finished)
    if start is None or (end is None and job.stage.is_over):
        return ""
    return duration(((end or now) - start).total_seconds())


def state_of(worker: Worker) -> str:
    """Name the state of a replica, with its reason."""
    return f"{worker.state.value} ({worker.reason})" if worker.reason else worker.state.value


def _role_data(role: RoleState) -> shapes.Role:
    return {
        "desired": role.desired,
        "ready": role.ready,
        "succeeded": role.succeeded,
        "failed": role.failed,
        "reason": role.why if role.counted else UNCOUNTED,
    }


def _count(role: RoleState, count: int) -> str:
    return str(count) if role.counted else "-"


def _job(job: JobState, now: datetime) -> list[str]:
    trainers = job.role("trainers")
    return [
        job.name,
        job.mode or "",
        job.stage.value,
        _ready(trainers),
        _ready(job.role("pservers")),
        _others(job),
        _count(trainers, trainers.succeeded) if trainers else "",
        _count(trainers, sum(role.failed for role in job.roles)) if trainers else "",
        ago(job.started, now),
        lasted(job, now),
        job.queue or "",
        job.started or "",
        job.finished or "",
        str(job.run) if job.run is not None else "",
        job.user or "",
    ]


def _others(job: JobState) -> str:
    """Count the ready replicas of the roles that the job names itself."""
    own = (role for role in job.roles if role.name not in PADDLE)
    return ",".join(f"{role.name} {_ready(role)}" for role in own)


def _without(items: list[_T], index: int) -> list[_T]:
    return [*items[:index], *items[index + 1 :]]


def _ready(role: RoleState | None) -> str:
    return f"{role.ready}/{role.desired}" if role else ""


def _worker(worker: Worker, now: datetime) -> list[str]:
    return [
        worker.name,
        worker.role,
        "" if worker.rank is None else str(worker.rank),
        state_of(worker),
        worker.node or "",
        str(worker.restarts),
        ago(worker.started, now),
        "" if worker.code is None else str(worker.code),
        worker.address or "",
        worker.started or "",
        worker.message or "",
    ]
