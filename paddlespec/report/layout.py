"""
A page of plain sections: headings, facts and tables, without borders.

The page is the same with and without color, so a log reads like the terminal. All text passes
the page's filter, which hides secrets.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from paddlespec.report.width import (
    brief,
    cells,
    plain,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INDENT = 2
_DEEPER = 6
_GAP = 2


class Page:
    """A page of text, *width* columns wide."""

    def __init__(self, width: int, *, color: bool, hide: Callable[[str], str]) -> None:
        self.width = width
        self._color = color
        self._dim = "dim" if color else ""
        self._hide = hide
        self._out = StringIO()
        self._console = Console(
            file=self._out,
            width=width,
            height=25,
            color_system="standard" if color else None,
            force_terminal=color,
            no_color=not color,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            _environ={},
        )

    def text(self) -> str:
        """Return the page."""
        lines = self._out.getvalue().split("\n")
        return "\n".join(line.rstrip() for line in lines)

    def title(self, text: str) -> None:
        """Print the first line of the page."""
        self._console.print(Text(self._clean(text), "bold", overflow="fold"))

    def heading(self, text: str, note: str = "") -> None:
        """Print the heading of a section, after an empty line."""
        line = Text(self._clean(text), "bold cyan")
        if note:
            line.append(f"  {self._clean(note)}", "not bold default")
        self._console.print(Text(), line, sep="\n")

    def line(self, text: str, style: str = "", indent: int = INDENT) -> None:
        """Print a paragraph."""
        self._put(Text(self._clean(text), style, overflow="fold"), indent)

    def facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Print names and values side by side."""
        if not facts:
            return
        table = self._grid()
        table.add_column(style=self._dim, no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts:
            table.add_row(Text(self._clean(name)), Text(self._clean(value)))
        self._put(table)

    def variables(self, facts: Sequence[tuple[str, str]]) -> None:
        """Print names and values side by side, and values that are too long below their names."""
        room = self.width - INDENT - _GAP
        shown = [(name, self._clean(value)) for name, value in facts]
        beside = [len(name) for name, value in shown if len(name) + cells(value) <= room]
        widest = max(beside, default=0)
        for name, value in shown:
            line = Text(f"{name:<{widest}}", self._dim)
            if len(name) <= widest and widest + cells(value) <= room:
                line.append(" " * _GAP + value, "not dim default")
                self._put(line)
                continue
            self._put(line)
            for part in brief(value):
                self._put(Text(part, overflow="fold"), _DEEPER)

    def table(
        self,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        numbers: frozenset[str] = frozenset(),
    ) -> None:
        """Print columns below their heads, right-aligned if in *numbers*; omit empty columns."""
        self._put(self._table(heads, rows, numbers))

    def fits(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
        """Report whether a table fits the width of the page without breaking a word."""
        measured = self._console.measure(self._table(heads, rows, frozenset()))
        return measured.maximum + INDENT <= self.width

    def yaml(self, text: str) -> None:
        """Print a YAML document, highlighted if the page has color; its lines are never cut."""
        text = "".join(char if char == "\n" else plain(char) for char in text)
        if self._color:
            from rich.syntax import Syntax

            lexed = Syntax("", "yaml", theme="ansi_dark", background_color="default")
            highlighted = lexed.highlight(text)
            highlighted.rstrip()
            self._console.print(highlighted, soft_wrap=True)
        else:
            self._out.write(text)

    def _table(
        self, heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[str]
    ) -> Table:
        table = self._grid(header=True)
        used = [index for index, _ in enumerate(heads) if any(row[index] for row in rows)]
        for index in used:
            number = heads[index] in numbers
            side = "right" if number else "left"
            table.add_column(heads[index], justify=side, no_wrap=number, overflow="fold")  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(Text(self._clean(row[index])) for index in used))
        return table

    def _grid(self, *, header: bool = False) -> Table:
        return Table(
            box=None,
            show_header=header,
            header_style=self._dim,
            padding=(0, _GAP, 0, 0),
            pad_edge=False,
        )

    def _put(self, part: Text | Table, indent: int = INDENT) -> None:
        self._console.print(Padding(part, (0, 0, 0, indent)))

    def _clean(self, text: str) -> str:
        return visible(self._hide(text))
