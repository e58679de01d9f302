"""Why a run ended, in the same words on every target."""

from __future__ import annotations

from paddlespec.quantity import as_duration

REPLICA_FAILED = "a replica failed"
PSERVER_LOST = "a pserver was lost"


def timed_out(limit: float | None) -> str:
    """That a run took longer than it was allowed to, and how long that is where it is known."""
    return f"its timeout{f' of {as_duration(limit)}' if limit else ''} has passed"


def lost(role: str) -> str:
    """What the end of a replica of *role* is for the run."""
    return PSERVER_LOST if role == "pservers" else REPLICA_FAILED
