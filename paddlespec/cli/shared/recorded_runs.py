"""Choosing a run from the history of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.runs.history import Recorded, RunRecord

Number = Annotated[
    int | None, typer.Option("--run", metavar="N", min=1, help="Show the run with this number.")
]


def numbered(recorded: Recorded, number: int | None) -> RunRecord:
    """The run *number*, or the latest one that started; raises `Stop`."""
    runs = recorded.history.runs
    if number is None:
        run = recorded.history.ran or recorded.history.latest
    else:
        run = next((known for known in runs if known.number == number), None)
    if run is not None:
        return run
    if not runs:
        raise Stop(Exit.refused, f"{recorded.job} has no recorded runs")
    known = f"{runs[0].number} to {runs[-1].number}" if len(runs) > 1 else str(runs[0].number)
    raise Stop(Exit.refused, f"{recorded.job} has no run {number}", f"recorded runs: {known}")


def only(recorded: Recorded, number: int) -> Recorded:
    """The history with the run *number* alone."""
    runs = (numbered(recorded, number),)
    return recorded._replace(history=recorded.history._replace(runs=runs))


def latest_of(recorded: Recorded) -> Recorded | None:
    """The history with the latest run alone; None if there is no run."""
    latest = recorded.history.latest
    if latest is None:
        return None
    return recorded._replace(history=recorded.history._replace(runs=(latest,)))
