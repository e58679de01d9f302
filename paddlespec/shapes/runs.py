"""`get history`: what is recorded of runs."""

from __future__ import annotations

from typing import Annotated, Any

from paddlespec.history import State
from paddlespec.shapes.base import Shape, Time, one_of

_State = Annotated[
    str,
    one_of(
        State,
        intended="Nothing of it was there yet.",
        running="It runs.",
        succeeded="It ended well.",
        failed="It ended otherwise.",
        killed="A person ended it.",
        replaced="It was ended for another run.",
        lost="It is gone, and nobody saw its end.",
    ),
]


class Run(Shape):
    """One run of a job, as it is recorded."""

    run: int
    """Its number, from 1 on; numbers are never given twice."""
    state: _State
    """How far it is, as far as somebody wrote it down."""
    specHash: str | None
    """What shaped its pods: equal for runs of equal pods."""
    renderedHash: str | None
    """Which bytes were sent."""
    uid: str | None
    """The UID of the trainers' Job, or of the run on this machine; null if it never began."""
    started: Time | None
    """When it began."""
    finished: Time | None
    """When it ended, or was seen to have ended."""
    who: str
    """Who applied it."""
    commit: str | None
    """The commit of the spec's repository."""
    dirty: bool
    """Whether files beside the spec differed from that commit."""
    ci: str | None
    """The page of the CI job that applied it."""
    file: str | None
    """The spec's file, from the top of its repository."""


class JobRuns(Shape):
    """A job with its runs."""

    namespace: str
    """The namespace that it is in."""
    name: str
    """Its name."""
    runs: list[Run]
    """The oldest first."""


class History(Shape):
    """What `get history` shows: without a name, only the latest run of each job."""

    jobs: list[JobRuns]
    """Those that were asked for."""


class OneRun(Run):
    """What `get history NAME --run N` shows: one run with the spec that was applied."""

    namespace: str
    """The namespace of the job."""
    name: str
    """The name of the job."""
    spec: dict[str, Any] | str | None
    """The effective spec, secrets masked; text if it is no YAML any more, null if it is not kept."""
