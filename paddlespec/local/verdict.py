"""
Who is to blame: pure decisions over the ends of replicas.

One replica that fails takes others with it: within a tenth of a second their connections break and
they abort. Under a launcher, which looks at its processes every few seconds, a victim's launcher
may even end before the culprit's. So the earliest end counts among those that do not speak of
others in their last words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec import exit_code
from paddlespec.last_words import speak_of_others
from paddlespec.local.state import Culprit

if TYPE_CHECKING:
    from collections.abc import Iterable

LINES = 10
_LONGEST = 500
_ABORTED, _TERMINATED = 134, (15, 143)
# Not of its own will: what killed it came from elsewhere, and is where the trouble began.
_KILLED = 137


class End(NamedTuple):
    """How one replica ended badly: when, and what it wrote last; `why` where we know it."""

    name: str
    code: int
    at: float
    tail: bytes = b""
    why: str | None = None


def culprit(ends: Iterable[End]) -> Culprit | None:
    """The end that made the others end."""
    first = min(ends, key=lambda each: (_is_victim(each), each.at), default=None)
    return (
        Culprit(first.name, ending(first.code, first.why), last_lines(first.tail))
        if first
        else None
    )


def ending(code: int | None, why: str | None = None) -> str:
    """How a replica ended, in words."""
    words = why or (exit_code.words(code) if code is not None else "")
    told = "" if code is None else f"exit code {code}"
    return f"{told} ({words})" if told and words else told or words


def last_lines(tail: bytes) -> tuple[str, ...]:
    """The last lines of an output; what a progress bar wrote over itself is gone, as on a screen."""
    lines = tail.decode(errors="replace").split("\n")
    shown = [each.rstrip("\r").rpartition("\r")[2].rstrip() for each in lines]
    kept = [_printable(each) for each in shown if each.strip()][-LINES:]
    return tuple(each if len(each) <= _LONGEST else f"{each[:_LONGEST]}..." for each in kept)


def size(count: int) -> str:
    """Bytes for people."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def _is_victim(end: End) -> bool:
    code = exit_code.signalled(end.code)
    if end.why or code == _KILLED:
        return False
    if code in (_ABORTED, *_TERMINATED):
        return True
    return speak_of_others(end.tail)


def _printable(text: str) -> str:
    return "".join(
        each if each.isprintable() or each == "\t" else "\N{REPLACEMENT CHARACTER}" for each in text
    )
