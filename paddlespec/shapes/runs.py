"""The output of `get history`."""

from __future__ import annotations

from typing import Annotated, Any

from paddlespec.runs.history import State
from paddlespec.shapes.base import Shape, Time, one_of

_State = Annotated[
    str,
    one_of(
        State,
        intended="Recorded, but not created yet.",
        running="Running.",
        succeeded="Finished successfully.",
        failed="Finished with a failure.",
        killed="Killed by a user.",
        replaced="Stopped for another run.",
        lost="Finished unobserved; its result is unknown.",
    ),
]


class Run(Shape):
    """One recorded run of a job."""

    run: int
    """The number of the run, starting at 1; numbers are never reused."""
    state: _State
    """The last recorded state."""
    specHash: str | None
    """The hash of what defines the pods: equal for runs with equal pods."""
    renderedHash: str | None
    """The hash of the applied manifests."""
    uid: str | None
    """The UID of the trainers' Job, or of the run on this machine; null if it never started."""
    started: Time | None
    """When the run started."""
    finished: Time | None
    """When the run finished, or was first seen finished."""
    who: str
    """Who applied it."""
    commit: str | None
    """The commit of the spec's repository."""
    dirty: bool
    """Whether the repository had uncommitted changes."""
    ci: str | None
    """The URL of the CI job that applied it."""
    file: str | None
    """The path of the spec, relative to the top of its repository."""


class JobRuns(Shape):
    """A job with its runs."""

    namespace: str
    """The namespace."""
    name: str
    """The name."""
    runs: list[Run]
    """The runs, the oldest first."""


class History(Shape):
    """The output of `get history`; without a name, only the latest run of each job."""

    jobs: list[JobRuns]
    """The selected jobs."""


class OneRun(Run):
    """The output of `get history NAME --run N`: one run with the applied spec."""

    namespace: str
    """The namespace of the job."""
    name: str
    """The name of the job."""
    spec: dict[str, Any] | str | None
    """The effective spec with secrets masked; a string if it is not YAML, null if it is not stored."""
