"""
Tables for people: heads, and below them columns that stay columns for other programs too.

Nothing is cut unless a terminal would break the lines. No cell is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.report.width import cells, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "-"
_GAP = "  "
_NARROWEST = 6


class Column(NamedTuple):
    """
    One column; numbers stand on the `right`, and `wide` ones are shown on demand.

    What may be `cut` where there is no room is said by the rest of the row too, or by another form.
    """

    head: str
    right: bool = False
    wide: bool = False
    cut: bool = False


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    wide: bool = False,
    width: int | None = None,
) -> str:
    """*rows* below the heads of *columns*, in lines of at most *width*; nothing for no rows."""
    if not rows:
        return ""
    used = [index for index, each in enumerate(columns) if wide or not each.wide]
    shown = [columns[index] for index in used]
    lines = [[each.head for each in shown]]
    lines += [[visible(row[index]) or NOTHING for index in used] for row in rows]
    widths = [max(cells(line[index]) for line in lines) for index, _ in enumerate(shown)]
    if width is not None:
        widths = _fitted(shown, widths, width)
    return "".join(_line(shown, line, widths) for line in lines)


def _fitted(columns: Sequence[Column], widths: list[int], most: int) -> list[int]:
    """*widths* made less, the widest first, until a line fits; as they are where none can."""
    found = list(widths)
    while sum(found) + len(_GAP) * (len(found) - 1) > most:
        able = [
            index
            for index, each in enumerate(columns)
            if each.cut and found[index] > max(_NARROWEST, cells(each.head))
        ]
        if not able:
            return widths
        found[max(able, key=lambda index: found[index])] -= 1
    return found


def _line(columns: Sequence[Column], line: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for column, text, width in zip(columns, line, widths):
        text = shortened(text, width)
        space = " " * (width - cells(text))
        parts.append(space + text if column.right else text + space)
    return _GAP.join(parts).rstrip() + "\n"
