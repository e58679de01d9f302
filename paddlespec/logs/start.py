"""Where reading a log begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Start(NamedTuple):
    """
    Where to begin: the last *lines* that match, none older than *time*.

    *matches* gets a line with its time, as it stands in a log.
    """

    lines: int | None = None
    time: bytes | None = None
    matches: Callable[[bytes], object] | None = None
