"""
Which replica failed first: pure decisions based on how replicas ended.

A failing replica takes others with it: within a tenth of a second their connections break and they
abort. A launcher checks its processes every few seconds, so a victim's launcher may even end before
the culprit's. The culprit is the earliest to end among those whose last lines blame no other
replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.local.store.run_state import Culprit
from paddlespec.logs.failure import failed_rank, failure
from paddlespec.runs import exit_code
from paddlespec.runs.failure_text import speak_of_others

if TYPE_CHECKING:
    from collections.abc import Iterable

LINES = 10
_LONGEST = 500
# A replica that failed because of another one says so at the end.
_RECENT = 16 * 1024
_ABORTED, _TERMINATED = 134, (15, 143)
# Killed from outside, so it is the first cause.
_KILLED = 137


class End(NamedTuple):
    """How one replica failed: when, its last output, and the cause `why` if known."""

    name: str
    code: int
    at: float
    tail: bytes = b""
    why: str | None = None


def culprit(ends: Iterable[End]) -> Culprit | None:
    """Return the end that caused the others."""
    first = min(ends, key=lambda end: (_is_victim(end), end.at), default=None)
    return Culprit(first.name, _ending(first), last_lines(first.tail)) if first else None


def ending(code: int | None, why: str | None = None) -> str:
    """Describe how a replica ended."""
    reason = why or (exit_code.meaning(code) if code is not None else "")
    text = "" if code is None else f"exit code {code}"
    return f"{text} ({reason})" if text and reason else text or reason


def _ending(end: End) -> str:
    """Describe how a replica ended; a launcher's own exit code says little about its processes."""
    blamed = failed_rank(_lines(end.tail))
    if end.why or blamed is None or blamed.code == exit_code.signalled(end.code):
        return ending(end.code, end.why)
    return f"exit code {end.code} (rank {blamed.rank} failed with {ending(blamed.code)})"


def last_lines(tail: bytes) -> tuple[str, ...]:
    """Return the lines of an output that show why it ended, as a screen shows them."""
    kept = [_printable(line) for line in failure(_lines(tail), LINES)]
    return tuple(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..." for line in kept)


def _lines(tail: bytes) -> list[str]:
    """Split an output into lines as a screen shows them: progress bars overwrite themselves."""
    lines = tail.decode(errors="replace").split("\n")
    shown = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines]
    return [line for line in shown if line]


def _is_victim(end: End) -> bool:
    code = exit_code.signalled(end.code)
    if end.why or code == _KILLED:
        return False
    if code in (_ABORTED, *_TERMINATED):
        return True
    return speak_of_others(end.tail[-_RECENT:])


def _printable(text: str) -> str:
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
