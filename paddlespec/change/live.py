"""What is there of a job, as a decision sees it: the same for a cluster and for this machine."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.failures import OperationFailed


class Presence(Enum):
    """What there is of a run."""

    absent = "absent"
    held = "held"  # created, and not started yet
    running = "running"
    finished = "finished"


class Part(Enum):
    """What an object is to a run; in this order they are created."""

    claim = "claim"  # outlives the run
    owner = "owner"  # ends with the run, and everything that it owns with it
    owned = "owned"


class Member(NamedTuple):
    """
    One rendered object, and what is there under its name; nothing where that is about to go.

    `ends`: what is there is being deleted, or will be with the earlier run that owns it.
    `starts_held`: it is created suspended, and `held` says that it still is. `runs_pods`: it runs a
    role. `refused`: why it cannot be written. `broken`: why the run cannot go on.
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
    What is there of a job and no longer rendered: objects, which go, and claims, which stay.

    `owned` are objects of the run that is there: they go with it, in use or not. `running` and `finished` describe the workload among the objects that is still a run, or was
    one. `error`: why all this is unknown.
    """

    objects: Sequence[Manifest] = ()
    claims: Sequence[Manifest] = ()
    owned: Sequence[Manifest] = ()
    running: str | None = None
    finished: str | None = None
    error: OperationFailed | None = None


class Live(Protocol):
    """
    What is there of a job at one moment; the rest is read when a decision first asks for it.

    `presence` is absent for a job that has no runs to follow. `state` describes what is there, as
    in "Job/fit-trainer is running". `fingerprint` is that of its spec, where it is known.
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
        """Whether pods that are there cannot become those that are rendered."""
