"""Print whether a job fits right now, as a section of its preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.capacity.line import EVERY, verdict
from paddlespec.quantity import as_short
from paddlespec.report.capacity import FITS

if TYPE_CHECKING:
    from decimal import Decimal

    from paddlespec.capacity.line import Line
    from paddlespec.capacity.room import Feasible
    from paddlespec.report.layout import Page

_HEADS = ("", "needs", "free", "short", "fits")
_VERDICTS = {
    True: "the job fits right now",
    False: "the job does not fit right now",
    None: "no shortage found, but some limits could not be read",
}


def feasibility(page: Page, result: Feasible) -> None:
    """Print the verdict, and below it what the job needs of every limit."""
    if result.trouble is not None:
        page.heading("Feasibility", "unknown")
        page.line(result.trouble, "yellow")
        return
    page.heading("Feasibility", _VERDICTS[verdict(result.lines)])
    shown = [line for line in result.lines if line.need or not line.fits]
    page.table(_HEADS, [_row(line) for line in shown], frozenset(_HEADS[1:4]))
    for line in shown:
        if line.reason and not line.fits:
            page.line(f"{_label(line)}: {line.reason}")
    if result.note:
        page.line(result.note)


def _row(line: Line) -> list[str]:
    amounts = (
        _amount(line.resource or "", amount) for amount in (line.need, line.free, line.short)
    )
    return [_label(line), *amounts, FITS[line.fits]]


def _label(line: Line) -> str:
    name = f" {line.name}" if line.name != EVERY else ""
    return f"{line.kind}{name}{f', {line.resource}' if line.resource else ''}"


def _amount(resource: str, number: Decimal | None) -> str:
    return "" if number is None else as_short(resource, number)
