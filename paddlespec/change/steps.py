"""
The steps of an apply, in order.

One list serves three purposes: `diff` prints it, a plan approves it, and `apply` executes it. A
backend knows how to preview and execute each step; only `decide` chooses the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.render.manifest import identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.history import RunRecord


@dataclass(frozen=True)
class Try:
    """Check that a new run would be accepted, before an earlier one ends or anything is created."""

    manifests: Sequence[Manifest]


@dataclass(frozen=True)
class Record:
    """Write the history: how the last run ended and, with an *intent*, the next run."""

    intent: RunRecord | None = None


@dataclass(frozen=True)
class End:
    """End the earlier run *uid* with everything it owns."""

    uid: str


@dataclass(frozen=True)
class WaitUntilGone:
    """Wait until an object that is being deleted, or everything of earlier runs, is gone."""

    manifest: Manifest | None = None


@dataclass(frozen=True)
class Begin:
    """Record the UID of the new run, before it can start."""


@dataclass(frozen=True)
class Create:
    """Create an object."""

    manifest: Manifest


@dataclass(frozen=True)
class Update:
    """
    Update an object in place; one that is already as rendered is not changed.

    `lenient`: the spec of its pods is unchanged, so fields that cannot change in place are kept.
    """

    manifest: Manifest
    live: Manifest
    lenient: bool = False


@dataclass(frozen=True)
class Replace:
    """Recreate an object after *live* was deleted with the earlier run."""

    manifest: Manifest
    live: Manifest


@dataclass(frozen=True)
class Keep:
    """Leave an object unchanged, even if it does not exist."""

    manifest: Manifest
    reason: str | None = None


@dataclass(frozen=True)
class Resume:
    """Start a workload that was created suspended."""

    manifest: Manifest


@dataclass(frozen=True)
class Delete:
    """Delete an object that is no longer rendered."""

    live: Manifest


@dataclass(frozen=True)
class Refuse:
    """Refuse the whole apply because of one object."""

    manifest: Manifest
    error: OperationFailed


@dataclass(frozen=True)
class RefuseToPrune:
    """Refuse the whole apply because it is unknown which objects are no longer rendered."""

    error: OperationFailed


ObjectStep = Create | Update | Replace | Keep | Refuse
Step = Try | Record | End | WaitUntilGone | Begin | Resume | Delete | RefuseToPrune | ObjectStep


class Decision(NamedTuple):
    """
    What an apply does: its steps and notes.

    A `refusal` means lack of consent; then there are no steps.
    """

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: OperationFailed | None = None

    @property
    def error(self) -> OperationFailed | None:
        """Why an apply executes none of these steps, if so."""
        refused = (step.error for step in self.steps if isinstance(step, Refuse | RefuseToPrune))
        return self.refusal or next(refused, None)

    @property
    def begins(self) -> str | None:
        """How a new run begins: `create` or `replace`; None if none begins."""
        if not any(isinstance(step, Begin) for step in self.steps):
            return None
        return "replace" if any(isinstance(step, End) for step in self.steps) else "create"


def in_order_of(manifests: Sequence[Manifest], steps: Iterable[Step]) -> list[ObjectStep]:
    """Return the steps about *manifests*, in the order in which objects are shown."""
    known = {identity(step.manifest): step for step in steps if isinstance(step, ObjectStep)}
    return [known[name] for name in map(identity, manifests) if name in known]
