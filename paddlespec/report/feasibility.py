"""Whether a job has room now, as a section of its preview."""

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
    True: "the job fits at this moment",
    False: "the job does not fit at this moment",
    None: "nothing is known to be short, but not everything could be looked at",
}


def feasibility(page: Page, found: Feasible) -> None:
    """The verdict, and below it all that the job needs and that bounds it."""
    if found.trouble is not None:
        page.heading("Feasibility", "unknown")
        page.line(found.trouble, "yellow")
        return
    page.heading("Feasibility", _VERDICTS[verdict(found.lines)])
    shown = [each for each in found.lines if each.need or not each.fits]
    page.table(_HEADS, [_row(each) for each in shown], frozenset(_HEADS[1:4]))
    for each in shown:
        if each.reason and not each.fits:
            page.line(f"{_label(each)}: {each.reason}")
    if found.note:
        page.line(found.note)


def _row(line: Line) -> list[str]:
    amounts = (_amount(line.resource or "", each) for each in (line.need, line.free, line.short))
    return [_label(line), *amounts, FITS[line.fits]]


def _label(line: Line) -> str:
    name = f" {line.name}" if line.name != EVERY else ""
    return f"{line.kind}{name}{f', {line.resource}' if line.resource else ''}"


def _amount(resource: str, number: Decimal | None) -> str:
    return "" if number is None else as_short(resource, number)
