"""
The observed state of jobs, replicas and runs: the same values for a cluster and this machine.

Backends derive them from what they store; reports show them. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.runs.history import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paddlespec.runs.history import RunRecord


class Stage(str, Enum):
    """The state of a job."""

    intended = "intended"  # recorded, but no object of it exists yet
    suspended = "suspended"
    queued = "queued"
    pending = "pending"  # no trainer is running yet
    running = "running"
    stopping = "stopping"
    failing = "failing"  # it can no longer succeed, but parts of it are still running
    succeeded = "succeeded"
    failed = "failed"
    killed = "killed"
    replaced = "replaced"
    lost = "lost"

    @property
    def is_over(self) -> bool:
        """Whether no part of the job will run again."""
        return self in _OVER

    @property
    def is_failure(self) -> bool:
        """Whether the job itself failed."""
        return self in (Stage.failing, Stage.failed)


class WorkerState(str, Enum):
    """The state of a replica."""

    pending = "pending"
    waiting = "waiting"  # for the pservers
    running = "running"
    stopping = "stopping"
    succeeded = "succeeded"
    failed = "failed"
    stopped = "stopped"  # with its run
    unknown = "unknown"


_OVER = (Stage.succeeded, Stage.failed, Stage.killed, Stage.replaced, Stage.lost)


class RoleState(NamedTuple):
    """
    The replicas of a role, counted; `why` is what keeps the others from being ready.

    `counted` is false if the objects that hold the counts no longer exist.
    """

    name: str
    desired: int
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    why: str | None = None
    counted: bool = True


class JobState(NamedTuple):
    """
    A job; `why` explains its stage where that needs an explanation.

    `run` and `user` are those of the run that is shown; they are unknown if another tool applied
    the job.
    """

    name: str
    namespace: str
    target: str
    stage: Stage
    mode: str | None = None
    roles: tuple[RoleState, ...] = ()
    why: str | None = None
    queue: str | None = None
    started: str | None = None
    finished: str | None = None
    run: int | None = None
    user: str | None = None
    labels: Mapping[str, str] = MappingProxyType({})

    def role(self, name: str) -> RoleState | None:
        """Return the role *name*, if the job has it."""
        return next((role for role in self.roles if role.name == name), None)


class Worker(NamedTuple):
    """
    A replica: a pod of a cluster, or a process of this machine.

    `reason` is one word for programs, `message` a line for people. `code` is an exit code as in a
    shell.
    """

    name: str
    role: str
    rank: int | None
    state: WorkerState
    ready: bool = False
    reason: str | None = None
    node: str | None = None
    address: str | None = None
    restarts: int = 0
    started: str | None = None
    finished: str | None = None
    code: int | None = None
    message: str | None = None


class Condition(NamedTuple):
    """A condition that holds for an object, as its controller names it."""

    subject: str
    type: str
    since: str | None = None
    reason: str | None = None


class ObjectEvent(NamedTuple):
    """An event of an object; `text` is our own wording, if there is one."""

    at: str | None
    subject: str
    reason: str
    text: str | None = None
    times: int = 1
    warning: bool = False


class Status(NamedTuple):
    """
    Everything about one job that fits on a screen.

    `evidence` lists the facts that show the reason for its state, one per line.
    """

    job: JobState
    record: RunRecord | None = None
    workers: tuple[Worker, ...] = ()
    conditions: tuple[Condition, ...] = ()
    events: tuple[ObjectEvent, ...] = ()
    failure: str | None = None
    evidence: tuple[str, ...] = ()


def stage_of(record: RunRecord) -> Stage:
    """Return the stage of a run of which only the record exists."""
    return Stage.lost if record.state is State.running else Stage(record.state.value)


def in_order(workers: Iterable[Worker]) -> list[Worker]:
    """Sort trainers first, by rank; a retried replica comes after its earlier attempt."""
    return sorted(
        workers,
        key=lambda worker: (
            worker.role != "trainers",
            worker.role,
            worker.rank is None,
            worker.rank or 0,
            worker.started or "~",
        ),
    )
