"""How and why a run ended, in the same words on every target."""

from __future__ import annotations

from paddlespec.quantity import as_duration
from paddlespec.runs.history import State

REPLICA_FAILED = "a replica failed"
PSERVER_LOST = "a pserver was lost"
_UNSEEN = "finished while nobody was watching; its result is unknown"
_ENDINGS = {
    State.succeeded: "succeeded",
    State.failed: "failed",
    State.killed: "was killed",
    State.replaced: "was stopped for a replacement that never started",
    State.lost: _UNSEEN,
    State.running: _UNSEEN,
    State.intended: "never ran",
}


def ending(state: State | None) -> str:
    """Describe how a run ended of which only the record exists, as a clause."""
    return _ENDINGS[state or State.lost]


def timed_out(limit: float | None) -> str:
    """Say that a run exceeded its timeout of *limit* seconds."""
    return f"exceeded its timeout{f' of {as_duration(limit)}' if limit else ''}"


def lost(role: str) -> str:
    """Say what the loss of a replica of *role* means for the run."""
    return PSERVER_LOST if role == "pservers" else REPLICA_FAILED
