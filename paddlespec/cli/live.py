"""Looking again and again: a view that renews itself on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 2.0


class Shown(NamedTuple):
    """
    One look: the whole picture, what a reader without a terminal gets of it, and whether it is
    the last one.

    `lines` are those that are new to who has seen the earlier ones.
    """

    whole: str
    lines: str
    last: bool


def follow(look: Callable[[], Shown], pause: Callable[[float], None], *, redraw: bool) -> None:
    """Show what *look* finds until it is the last; *redraw* where a picture can be renewed."""
    if redraw and sys.stdout.isatty():
        _redraw(look, pause)
        return
    while True:
        found = look()
        sys.stdout.write(found.lines)
        sys.stdout.flush()
        if found.last:
            return
        pause(SECONDS)


def _redraw(look: Callable[[], Shown], pause: Callable[[float], None]) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            found = look()
            live.update(Text(found.whole.rstrip("\n")), refresh=True)
            if found.last:
                break
            pause(SECONDS)
