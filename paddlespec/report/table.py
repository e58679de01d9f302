"""
Tables for people, whose columns other programs can still split.

Cells are cut only to fit the width of a terminal. No cell is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.report.states import painted
from paddlespec.report.width import cells, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "-"
_GAP = "  "
_NARROWEST = 6


class Column(NamedTuple):
    """
    One column: numbers are aligned `right`, and `wide` columns are shown on demand.

    A column may be `cut` to fit if the row stays clear without the full text. One that holds
    `states` may be colored.
    """

    head: str
    right: bool = False
    wide: bool = False
    cut: bool = False
    states: bool = False


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    wide: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Print *rows* below the heads of *columns*, at most *width* wide; empty without rows."""
    if not rows:
        return ""
    used = [index for index, column in enumerate(columns) if wide or not column.wide]
    shown = [columns[index] for index in used]
    lines = [[column.head for column in shown]]
    lines += [[visible(row[index]) or NOTHING for index in used] for row in rows]
    widths = [max(cells(line[index]) for line in lines) for index, _ in enumerate(shown)]
    if width is not None:
        widths = _fitted(shown, widths, width)
    return "".join(_line(shown, line, widths, color=color) for line in lines)


def _fitted(columns: Sequence[Column], widths: list[int], most: int) -> list[int]:
    """Reduce *widths*, the widest first, until a line fits; unchanged if none ever does."""
    fitted = list(widths)
    while sum(fitted) + len(_GAP) * (len(fitted) - 1) > most:
        able = [
            index
            for index, column in enumerate(columns)
            if column.cut and fitted[index] > max(_NARROWEST, cells(column.head))
        ]
        if not able:
            return widths
        fitted[max(able, key=lambda index: fitted[index])] -= 1
    return fitted


def _line(
    columns: Sequence[Column], line: Sequence[str], widths: Sequence[int], *, color: bool
) -> str:
    parts = []
    for column, text, width in zip(columns, line, widths):
        text = shortened(text, width)
        space = " " * (width - cells(text))
        if color and column.states:
            text = painted(text)
        parts.append(space + text if column.right else text + space)
    return _GAP.join(parts).rstrip() + "\n"
