"""The output of `get jobs`, `get workers` and `status`."""

from __future__ import annotations

from typing import Annotated

from paddlespec.runs.state import Stage, WorkerState
from paddlespec.shapes.base import (
    Count,
    Shape,
    Time,
    one_of,
)
from paddlespec.shapes.runs import Run

_Stage = Annotated[
    str,
    one_of(
        Stage,
        intended="Recorded by apply, but not created yet.",
        suspended="Suspended by a user.",
        queued="Waiting in its queue.",
        pending="No trainer is running yet.",
        running="Running.",
        stopping="Being deleted or killed.",
        failing="Cannot succeed any more, but parts are still running.",
        succeeded="Finished successfully.",
        failed="Finished with a failure.",
        killed="Killed by a user.",
        replaced="Stopped for another run.",
        lost="Finished unobserved; its result is unknown.",
    ),
]
_WorkerState = Annotated[
    str,
    one_of(
        WorkerState,
        pending="Not running yet.",
        waiting="Waiting for the pservers.",
        running="Running.",
        stopping="Being stopped.",
        succeeded="The program exited with 0.",
        failed="The program exited with another code, or never started.",
        stopped="Stopped together with its run.",
        unknown="The node does not respond.",
    ),
]


class Role(Shape):
    """The number of replicas of a role, by state."""

    desired: Count
    """The desired number of replicas."""
    ready: Count
    """The number that are running and ready."""
    succeeded: Count
    """The number that succeeded."""
    failed: Count
    """The number that failed."""
    reason: str | None
    """Why replicas are not ready, for people."""


class Job(Shape):
    """A job on a cluster or on this machine."""

    namespace: str
    """The namespace."""
    name: str
    """The name."""
    target: str
    """Where it runs: `kubernetes`, or `local` for this machine."""
    mode: str | None
    """The `mode` of the spec."""
    state: _Stage
    """The state."""
    reason: str | None
    """The reason for the state, for people."""
    roles: dict[str, Role]
    """The replicas of each role."""
    queue: str | None
    """The queue of the job."""
    started: Time | None
    """When the job started."""
    finished: Time | None
    """When the job finished."""
    run: int | None
    """The number of the run, starting at 1; null if another tool applied the job."""
    user: str | None
    """Who applied the job."""
    labels: dict[str, str]
    """The labels."""


class Jobs(Shape):
    """The output of `get jobs`."""

    jobs: list[Job]
    """The selected jobs."""


class Worker(Shape):
    """A replica: a pod on a cluster, or a process on this machine."""

    name: str
    """The name of the pod or the process."""
    role: str
    """The role: `trainers` or `pservers`."""
    rank: int | None
    """The index within the role, starting at 0."""
    state: _WorkerState
    """The state."""
    ready: bool
    """Whether it is running and ready."""
    reason: str | None
    """The reason for the state, in one word."""
    message: str | None
    """The reason for the state, for people."""
    node: str | None
    """The node that it runs on."""
    address: str | None
    """The IP address."""
    restarts: Count
    """The number of container restarts."""
    started: Time | None
    """When it started."""
    finished: Time | None
    """When it finished."""
    exitCode: int | None
    """The exit code as in a shell: 128 plus the number of the signal that ended the program."""


class Workers(Shape):
    """The output of `get workers`."""

    job: str
    """The name of the job."""
    workers: list[Worker]
    """The replicas, trainers first, sorted by rank."""


class Condition(Shape):
    """A condition of an object that is true, as reported by its controller."""

    object: str
    """The object, such as `Job/fit-trainer`."""
    type: str
    """The type of the condition."""
    reason: str | None
    """The reason, in one word."""
    since: Time | None
    """When the condition became true."""


class Event(Shape):
    """An event of an object."""

    object: str
    """The object, such as `Pod/fit-trainer-0-x7k2p`."""
    reason: str
    """The reason, in one word."""
    message: str | None
    """What happened, for people; messages of unknown form are omitted because they may quote secrets."""
    warning: bool
    """Whether the event is a warning."""
    count: Count
    """How often the event occurred."""
    last: Time | None
    """When the event last occurred."""


class Status(Job):
    """The output of `status`: the job, with its replicas, conditions and events."""

    evidence: list[str]
    """The evidence for the reason of the state, for people."""
    record: Run | None
    """The recorded run."""
    workers: list[Worker]
    """The replicas, trainers first, sorted by rank."""
    conditions: list[Condition]
    """The conditions of the job's objects."""
    events: list[Event]
    """The events of the job's objects, the latest last."""
    failure: str | None
    """The replica that failed first, with its last lines."""
    next: list[str]
    """Suggested next commands."""
