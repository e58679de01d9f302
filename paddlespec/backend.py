"""
Backends: what makes manifests run, and the values in which it tells what happened.

Only backends have effects. They raise `OperationFailed` and its kinds, whose messages are for
people and hold no value of the user's environment.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paddlespec.diff import Row
    from paddlespec.history import Provenance, Recorded, State
    from paddlespec.manifest import Manifest
    from paddlespec.picture import JobState, Status
    from paddlespec.plan import JobPlan

    Unread = tuple[str, "OperationFailed"]


class OperationFailed(Exception):
    """A cluster, a network or a process refused or failed."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class JobFailed(OperationFailed):
    """The job itself ended in failure."""


class TimeRanOut(OperationFailed):
    """What was waited for did not happen in time."""


class NotFound(OperationFailed):
    """No job of that name is there."""


class Interrupted(BaseException):
    """
    A person, or the system, wants this command to end.

    Threads are not told of signals: at their next request they learn it so.
    """


class Mode(str, Enum):
    """How far an apply goes."""

    none = "none"
    client = "client"
    server = "server"


class Until(str, Enum):
    """How long an apply waits."""

    created = "created"
    ready = "ready"
    complete = "complete"


class Work(NamedTuple):
    """
    A job that is to run, as rendered; its objects all live in one namespace.

    `fingerprint` tells whether an earlier run of it had the same pods. `spec` is the effective
    spec as YAML, secrets masked; with it and `provenance` a run is recorded. `source` is the path
    of the spec below the file of its `project`.
    """

    name: str
    manifests: list[Manifest]
    fingerprint: str | None = None
    provenance: Provenance | None = None
    spec: str | None = None
    project: str | None = None
    source: str | None = None


class Consent(NamedTuple):
    """
    What an apply may do: to a run that is there, to fields of others, to what is rendered no more,
    to a lock.

    `policy` is the spec's whenChanged; the rest is what the person who applies agrees to. With
    `approved` it does exactly that, or nothing.
    """

    policy: str = "replace-finished"
    replace: bool = False
    rerun: bool = False
    force_conflicts: bool = False
    prune: bool = True
    force_unlock: bool = False
    approved: JobPlan | None = None


class Compared(NamedTuple):
    """
    What an apply would make of a job: its objects, what else there is to say, the refusal with
    which it would end, and what all this rests on.
    """

    rows: list[Row]
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    basis: Mapping[str, Any] | None = None


class Run(NamedTuple):
    """
    A job as it was applied; `uid` tells this run from another one of the same name.

    `ended`: how it ended, where nothing of it is left to look at. `sent`: what was sent of it, or
    would be, where that is more than what is rendered.
    """

    work: Work
    namespace: str
    uid: str | None
    ended: State | None = None
    sent: tuple[Manifest, ...] = ()


class Event(NamedTuple):
    """Something that happened to an object, in the past tense, or a note about the whole job."""

    verb: str
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.subject} {self.verb}" if self.subject else self.verb


class Progress(NamedTuple):
    """How far something is: over or not, well or not, and in words."""

    done: bool
    ok: bool
    message: str


class Contents(NamedTuple):
    """What a job consists of at the moment, for a person who is about to end it."""

    objects: int
    replicas: dict[str, int]
    since: str | None


class Backend(Protocol):
    """Where jobs run."""

    def compare(self, work: Work, consent: Consent) -> Compared:
        """What an apply would change; nothing is written, and what cannot be seen is told."""

    def apply(self, work: Work, mode: Mode, tell: Callable[[Event], None], consent: Consent) -> Run:
        """Make it so; what is already so is not disturbed."""

    def look(self, run: Run, until: Until) -> Progress:
        """How far *run* is on its way; raises `JobFailed` as soon as it cannot get there."""

    def contents(self, name: str, *, claims: bool) -> Contents:
        """What there is of the job *name*; raises `NotFound`."""

    def remove(self, name: str, tell: Callable[[Event], None], *, claims: bool) -> None:
        """Ask for the end of everything that *contents* found."""

    def remaining(self, name: str, *, claims: bool) -> Progress:
        """Whether anything is left of a job that was removed."""

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        """All jobs, with those that are *over*, and what could not be read."""

    def status(self, name: str) -> Status:
        """Everything about one job; raises `NotFound`."""

    def glance(self, name: str) -> Status:
        """The job and its replicas alone; raises `NotFound`."""

    def run_of(self, name: str) -> Run | None:
        """The run of a job that can be looked at; nothing before it is there."""

    def record(self, name: str) -> Recorded:
        """The history of one job; raises `NotFound`."""

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        """The histories of all jobs, and what could not be read."""
