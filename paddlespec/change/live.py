"""The live objects of a job as a decision sees them, for a cluster and for this machine."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.failures import OperationFailed


class Presence(Enum):
    """The state of a run."""

    absent = "absent"
    held = "held"  # created, but not started yet
    running = "running"
    finished = "finished"


class Part(Enum):
    """The part of an object in a run, in the order of creation."""

    claim = "claim"  # outlives the run
    owner = "owner"  # ends with the run, along with everything it owns
    owned = "owned"


class Member(NamedTuple):
    """
    One rendered object and its live counterpart, which is None if it is about to be deleted.

    `ends`: the live object is being deleted, or will be with the earlier run that owns it.
    `starts_held`: it is created suspended; `held`: it is still suspended. `runs_pods`: it runs a
    role. `refused`: why it cannot be written. `broken`: why the run cannot continue.
    """

    manifest: Manifest
    part: Part
    live: Manifest | None = None
    ends: bool = False
    starts_held: bool = False
    held: bool = False
    runs_pods: bool = False
    refused: OperationFailed | None = None
    broken: OperationFailed | None = None


class Leftovers(NamedTuple):
    """
    Live objects that are no longer rendered: objects to delete, and claims, which are kept.

    `owned` are objects of the current run: they are deleted with it, used or not. `running` and
    `finished` describe a workload among the objects that is still a run, or was one. `error`: why
    all this is unknown.
    """

    objects: Sequence[Manifest] = ()
    claims: Sequence[Manifest] = ()
    owned: Sequence[Manifest] = ()
    running: str | None = None
    finished: str | None = None
    error: OperationFailed | None = None


class Live(Protocol):
    """
    A job at one moment; everything except its presence is read only when a decision needs it.

    `presence` is absent for a job without runs. `state` describes the job, as in "Job/fit-trainer
    is running". `fingerprint` is that of its spec, if known.
    """

    @property
    def presence(self) -> Presence | None: ...
    @property
    def state(self) -> str: ...
    @property
    def fingerprint(self) -> str | None: ...
    @property
    def uid(self) -> str | None: ...
    @property
    def owner(self) -> Member | None: ...
    @property
    def members(self) -> Sequence[Member]: ...
    @property
    def leftovers(self) -> Leftovers: ...

    @property
    def is_stuck(self) -> bool:
        """Whether the live pods cannot become the rendered ones."""
