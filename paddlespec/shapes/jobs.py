"""`get jobs`, `get workers` and `status`: what runs."""

from __future__ import annotations

from typing import Annotated

from paddlespec.picture import Doing, Stage
from paddlespec.shapes.base import Count, Shape, Time, one_of
from paddlespec.shapes.runs import Run

_Stage = Annotated[
    str,
    one_of(
        Stage,
        intended="An apply agreed to it, and nothing of it is there yet.",
        suspended="Held back by somebody.",
        queued="Held back by its queue.",
        pending="No trainer runs yet.",
        running="It runs.",
        stopping="It is being deleted or killed.",
        failing="It cannot succeed any more, and part of it still runs.",
        succeeded="Over, and well.",
        failed="Over, and not well.",
        killed="Ended by a person.",
        replaced="Ended for another run.",
        lost="Gone, and nobody saw its end.",
    ),
]
_Doing = Annotated[
    str,
    one_of(
        Doing,
        pending="It does not run yet.",
        waiting="It waits for the pservers.",
        running="It runs.",
        stopping="It is being ended.",
        succeeded="Its program ended with 0.",
        failed="Its program ended otherwise, or never began.",
        stopped="It was ended with its run.",
        unknown="Its node does not answer.",
    ),
]


class Role(Shape):
    """The replicas of a role, counted."""

    desired: Count
    """How many there are to be."""
    ready: Count
    """How many run and are ready."""
    succeeded: Count
    """How many ended well."""
    failed: Count
    """How many ended otherwise."""
    reason: str | None
    """What keeps those that are not ready, for people."""


class Job(Shape):
    """A job, wherever it runs."""

    namespace: str
    """The namespace that it is in."""
    name: str
    """Its name."""
    target: str
    """Where it runs: `kubernetes`, or `local` for this machine."""
    mode: str | None
    """The `mode` of its spec."""
    state: _Stage
    """How far it is."""
    reason: str | None
    """More about the state, for people."""
    roles: dict[str, Role]
    """Its replicas by the name of their role."""
    queue: str | None
    """The queue that it waits in, or came from."""
    started: Time | None
    """When it began."""
    finished: Time | None
    """When it ended."""
    run: int | None
    """The number of its run, from 1 on; null if another tool has applied it."""
    user: str | None
    """Who applied it."""
    labels: dict[str, str]
    """Its labels."""


class Jobs(Shape):
    """What `get jobs` shows."""

    jobs: list[Job]
    """Those that were asked for."""


class Worker(Shape):
    """A replica: a pod of a cluster, or a process of this machine."""

    name: str
    """The name of the pod or the process."""
    role: str
    """Its role: `trainers` or `pservers`."""
    rank: int | None
    """Its number within the role, from 0 on."""
    state: _Doing
    """How far it is."""
    ready: bool
    """Whether it runs and is ready."""
    reason: str | None
    """Why it is as it is, in one word for programs."""
    message: str | None
    """Why it is as it is, for people."""
    node: str | None
    """The machine that it runs on."""
    address: str | None
    """Its address in the network."""
    restarts: Count
    """How often its container began again."""
    started: Time | None
    """When it began."""
    finished: Time | None
    """When it ended."""
    exitCode: int | None
    """What its program ended with, as in a shell: 128 and the number of a signal that ended it."""


class Workers(Shape):
    """What `get workers` shows."""

    job: str
    """The name of the job."""
    workers: list[Worker]
    """Trainers first, by rank."""


class Condition(Shape):
    """Something that holds of an object, in the words of its controller."""

    object: str
    """The object, as in `Job/fit-trainer`."""
    type: str
    """What holds."""
    reason: str | None
    """Why, in one word."""
    since: Time | None
    """Since when."""


class Event(Shape):
    """Something that happened to an object."""

    object: str
    """The object, as in `Pod/fit-trainer-0-x7k2p`."""
    reason: str
    """What happened, in one word."""
    message: str | None
    """What happened, for people; the texts of the cluster may quote an environment and are left out."""
    warning: bool
    """Whether the cluster means it as a warning."""
    count: Count
    """How often it happened."""
    last: Time | None
    """When it happened last."""


class Status(Job):
    """What `status` shows: the job, and everything about it that fits on a screen."""

    evidence: list[str]
    """What shows the reason of its state, in lines for people."""
    record: Run | None
    """The run as it is recorded."""
    workers: list[Worker]
    """Its replicas, trainers first, by rank."""
    conditions: list[Condition]
    """What holds of its objects."""
    events: list[Event]
    """What happened to its objects, the latest last."""
    failure: str | None
    """The replica that failed first, with its last lines."""
    next: list[str]
    """The commands that are likely to come next."""
