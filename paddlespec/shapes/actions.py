"""The output of `apply`, `kill` and `delete`."""

from __future__ import annotations

from typing import Literal

from paddlespec.shapes.base import Shape

Applied = Literal["applied", "unchanged", "deleted", "failed"]
Removed = Literal["removed", "absent", "kept", "failed"]


class Act(Shape):
    """What was done to one object."""

    object: str
    """The kind and name, such as `Job/fit-trainer`."""
    did: str
    """What was done, such as `created` or `deleted`; for people."""


class AppliedJob(Shape):
    """What was done to one job."""

    name: str
    """The name."""
    namespace: str | None
    """The namespace; null if the job failed before it was known."""
    objects: list[Act]
    """Its objects, in the order in which they were written."""
    error: str | None
    """Why it failed; for people."""
    hint: str | None
    """What to do about it; for people."""
    result: Applied
    """`deleted`: --prune deleted the job, because its spec was deleted; `failed`: it was not
    applied, or with --wait, did not get there."""
    uid: str | None
    """The UID of the run; null if it has none yet, and where nothing changes."""


class Apply(Shape):
    """The output of `apply`."""

    dryRun: bool
    """Whether nothing was changed, because of --dry-run."""
    jobs: list[AppliedJob]
    """The given jobs, then those that --prune deleted."""


class RemovedJob(Shape):
    """What was done to one job."""

    name: str
    """The name."""
    namespace: str | None
    """The namespace; null if the job failed before it was known."""
    objects: list[Act]
    """Its objects, in the order in which they were written."""
    error: str | None
    """Why it failed; for people."""
    hint: str | None
    """What to do about it; for people."""
    result: Removed
    """`absent`: it did not exist, and --ignore-not-found was given; `kept`: not confirmed."""


class Remove(Shape):
    """The output of `kill` and `delete`."""

    jobs: list[RemovedJob]
    """The given jobs."""
