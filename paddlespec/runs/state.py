"""
What runs, as people ask for it: the same values for a cluster and for this machine.

Backends draw them from what they keep; reports show them. Times are RFC 3339 in UTC.
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
    """How far a job is."""

    intended = "intended"  # agreed to, and nothing of it is there yet
    suspended = "suspended"
    queued = "queued"
    pending = "pending"  # no trainer runs yet
    running = "running"
    stopping = "stopping"
    failing = "failing"  # it cannot succeed any more, and something of it still runs
    succeeded = "succeeded"
    failed = "failed"
    killed = "killed"
    replaced = "replaced"
    lost = "lost"

    @property
    def is_over(self) -> bool:
        """Whether nothing of it will run any more."""
        return self in _OVER

    @property
    def is_failure(self) -> bool:
        """Whether the job itself went wrong."""
        return self in (Stage.failing, Stage.failed)


class WorkerState(str, Enum):
    """How far a replica is."""

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
    """The replicas of a role, counted; `why` says what keeps those that are not ready."""

    name: str
    desired: int
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    why: str | None = None


class JobState(NamedTuple):
    """
    A job; `why` says more of its stage where there is more to say.

    `run` and `user` are of the run that is shown; nobody knows them of a job that another tool
    has applied.
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
        """The role *name*, if the job has it."""
        return next((role for role in self.roles if role.name == name), None)


class Worker(NamedTuple):
    """
    A replica: a pod of a cluster, or a process of this machine.

    `reason` is one word for a program, `message` a line for people. `code` as in a shell.
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
    """Something that holds of an object, in the words of its controller."""

    subject: str
    type: str
    since: str | None = None
    reason: str | None = None


class ObjectEvent(NamedTuple):
    """Something that happened to an object; `text` is in our own words, where we have some."""

    at: str | None
    subject: str
    reason: str
    text: str | None = None
    times: int = 1
    warning: bool = False


class Status(NamedTuple):
    """
    Everything about one job that fits on a screen.

    `evidence` is what shows the reason of its state, in lines.
    """

    job: JobState
    record: RunRecord | None = None
    workers: tuple[Worker, ...] = ()
    conditions: tuple[Condition, ...] = ()
    events: tuple[ObjectEvent, ...] = ()
    failure: str | None = None
    evidence: tuple[str, ...] = ()


def stage_of(record: RunRecord) -> Stage:
    """How far a run is of which only the record is left."""
    return Stage.lost if record.state is State.running else Stage(record.state.value)


def in_order(workers: Iterable[Worker]) -> list[Worker]:
    """Trainers first, by rank; a replica that was tried again stands behind its earlier try."""
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
