"""The position from which a log is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Start(NamedTuple):
    """
    Start with the last *lines* that match, none older than *time*.

    *matches* receives a line including its time.
    """

    lines: int | None = None
    time: bytes | None = None
    matches: Callable[[bytes], object] | None = None
