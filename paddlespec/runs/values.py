"""What backends receive and return: a job to run, consent to change, runs, events, progress."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.change.diff import Row
    from paddlespec.change.plan import JobPlan
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.history import Provenance, State

    # The name of a job that could not be read, and why.
    Unread = tuple[str, OperationFailed]


class Mode(str, Enum):
    """Whether an apply writes, or only performs a dry run."""

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
    A job to run, as rendered; all its objects are in one namespace.

    `fingerprint` is equal for runs with equal pods. `spec` is the effective spec as YAML with
    secrets masked; it is recorded with the run, as is `provenance`. `source` is the path of the
    spec relative to the file of its `project`.
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
    What an apply may do to a run that exists, to fields of other managers, to objects the spec no
    longer renders, and to a lock.

    `policy` is the spec's whenChanged; everything else is the choice of the user. With `approved`,
    apply does exactly that or nothing.
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
    What an apply would change: rows for objects, notes, and the refusal it would end with.

    `basis` is the live state the comparison rests on; None where the backend supports no plans.
    """

    rows: list[Row]
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    basis: Mapping[str, Any] | None = None


class Run(NamedTuple):
    """
    A job as applied; `uid` distinguishes it from other runs of the same name.

    `ended`: how it ended, if it can no longer be observed. `sent`: the objects that were or would
    be sent, if they are more than the rendered ones.
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
    """Whether something is done, whether it went well, and a message."""

    done: bool
    ok: bool
    message: str


class Contents(NamedTuple):
    """What a job consists of at the moment: objects, running replicas by role, start time."""

    objects: int
    replicas: dict[str, int]
    since: str | None


class Orphan(NamedTuple):
    """A job whose spec may have been deleted: its name, and the spec relative to its project."""

    name: str
    source: str
