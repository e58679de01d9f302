"""Watching: a view that is redrawn on a terminal, new lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.cli.shared import listing
from paddlespec.cli.shared.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 2.0
_LINES = ("json", "yaml", "name")


class Shown(NamedTuple):
    """One look: the whole view, lines that are new since the last one, whether it is the last."""

    whole: str
    lines: str
    last: bool


def follow(look: Callable[[], Shown], pause: Callable[[float], None], form: str) -> None:
    """Show what *look* returns until it is the last; on a terminal, tables and text in place."""
    if form not in _LINES and sys.stdout.isatty():
        _redraw(look, pause)
        return
    while True:
        shown = look()
        listing.print_as(form, shown.lines)
        sys.stdout.flush()
        if shown.last:
            return
        pause(SECONDS)


def follow_list(
    look: Callable[[], list[Any]],
    key: Callable[[Any], tuple[str, ...]],
    forms: Callable[[list[Any]], Listing],
    pause: Callable[[float], None],
    output: str,
) -> None:
    """Show a list until Ctrl-C; without a terminal, items again whenever they change."""
    before: dict[tuple[str, ...], Any] | None = None

    def again() -> Shown:
        nonlocal before
        items = look()
        known = before
        before = {key(item): item for item in items}
        whole = listing.text(output, forms(items))
        if known is None:
            return Shown(whole, whole, last=False)
        changed = [item for item in items if known.get(key(item)) != item]
        lines = listing.text(output, forms(changed)) if changed else ""
        if listing.is_table(output):
            lines = lines.partition("\n")[2]
        return Shown(whole, lines, last=False)

    follow(again, pause, output)


def _redraw(look: Callable[[], Shown], pause: Callable[[float], None]) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            shown = look()
            live.update(Text.from_ansi(shown.whole.rstrip("\n")), refresh=True)
            if shown.last:
                break
            pause(SECONDS)
