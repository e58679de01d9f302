"""
What a backend is: how it is opened, and what every open engine can do.

Only engines have effects. They raise `OperationFailed` and its subclasses. Anything else that a
place may be able to do is an optional capability; see `paddlespec.backends.capabilities`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paddlespec.backends.capabilities import Capabilities
    from paddlespec.runs.history import Recorded
    from paddlespec.runs.state import JobState, Status
    from paddlespec.runs.values import (
        Compared,
        Consent,
        Contents,
        Event,
        Mode,
        Progress,
        Run,
        Unread,
        Until,
        Work,
    )

    # Options that only some backends accept, by long name, as given.
    Options = Mapping[str, Sequence[str]]

# The logger of requests to a server, which `-v` shows.
REQUEST_LOG = "paddlespec.requests"


def _ignore(_: str) -> None:
    """Report nothing."""


class Request(NamedTuple):
    """
    What the command line says about the place.

    `namespace` overrides all others. Operations give up at `deadline`, in monotonic time. With
    `attached`, runs of a foreground backend end with the command. `report` receives remarks for the
    user.
    """

    namespace: str | None = None
    deadline: float | None = None
    attached: bool = False
    options: Options = {}
    report: Callable[[str], None] = _ignore

    def option(self, name: str) -> str | None:
        """The value of an option that is given at most once."""
        return next(iter(self.options.get(name, ())), None)


class Place(NamedTuple):
    """
    Where a job is, according to its spec, its project, and the user's configuration.

    `context` is how the user reaches the datacenter. `folders` maps volume claims to folders that
    stand for them on this machine.
    """

    context: str | None = None
    namespace: str | None = None
    folders: tuple[tuple[str, str], ...] = ()


class Knowledge(IntEnum):
    """What a backend knows about a job's name without a request; the highest value wins."""

    nothing = 0
    other_jobs = 1
    finished = 2
    running = 3


class Session(Protocol):
    """An open engine, for the duration of one command."""

    @property
    def namespace(self) -> str:
        """The namespace for jobs that name none."""

    def until(self, deadline: float | None) -> None:
        """Give up when the monotonic clock shows *deadline*."""

    def pause(self, seconds: float) -> None:
        """Wait between two polls, at most *seconds*; raises `TimeRanOut` at the deadline."""

    def share(self, jobs: int) -> None:
        """Divide concurrent requests among *jobs* parallel operations."""

    def cancel(self) -> None:
        """Make every operation in every thread raise `Interrupted`."""

    def close(self) -> None:
        """Release connections, and stop attached runs."""


class Runs(Protocol):
    """Start, change, and stop jobs."""

    def compare(self, work: Work, consent: Consent) -> Compared:
        """Say what an apply would change; nothing is written."""

    def apply(
        self, work: Work, mode: Mode, report: Callable[[Event], None], consent: Consent
    ) -> Run:
        """Make the job run as rendered; objects that already match are left alone."""

    def look(self, run: Run, until: Until) -> Progress:
        """Return the progress of *run*; raises `JobFailed` once it cannot get there."""

    def contents(self, name: str, *, claims: bool) -> Contents:
        """Return what the job *name* consists of; raises `NotFound`."""

    def remove(
        self,
        name: str,
        report: Callable[[Event], None],
        *,
        claims: bool,
        force_unlock: bool = False,
    ) -> None:
        """Stop a job and begin to delete its objects; with *claims* its data and history too."""

    def remaining(self, name: str, *, claims: bool) -> Progress:
        """Return what is left of a removed job."""


class Sight(Protocol):
    """Observe jobs and their history."""

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        """Return the jobs, finished ones only with *over*, and those that cannot be read."""

    def status(self, name: str) -> Status:
        """Return everything known about one job; raises `NotFound`."""

    def glance(self, name: str) -> Status:
        """Return a job and its replicas without events and history; raises `NotFound`."""

    def run_of(self, name: str) -> Run | None:
        """Return the run that `look` can follow; None before it starts. Raises `NotFound`."""

    def record(self, name: str) -> Recorded:
        """Return the history of one job; raises `NotFound`."""

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        """Return the histories of all jobs, and those that cannot be read."""


class Engine(Session, Runs, Sight, Protocol):
    """An open backend. Opening it sends and reads nothing; the first operation does."""

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do besides running jobs."""


class Backend(Protocol):
    """
    A kind of place where jobs run; satisfied by a module that loads quickly.

    `target` is what users write after --target to name it. `where` completes "on ..." in a
    sentence. `options` are the long names of those that it accepts. `has_datacenters`: the
    project's datacenters are different places. `is_foreground`: runs belong to the terminal of the
    user, so they start one after another and `apply --wait complete` shows what they write.
    """

    name: str
    target: str
    where: str
    options: frozenset[str]
    has_datacenters: bool
    is_foreground: bool

    def check(self, request: Request) -> None:
        """Raise `InvalidOption` for an invalid option; nothing is opened."""

    def open_engine(self, request: Request, place: Place) -> Engine:
        """Return an engine for *place*."""

    def is_available(self) -> bool:
        """Report whether this user has such a place; no request is made."""

    def knowledge(self, name: str, namespace: str | None) -> Knowledge:
        """Return what is known about the job *name* on this machine; no request is made."""
