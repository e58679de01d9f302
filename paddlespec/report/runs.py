"""Print the recorded runs of jobs as a table or as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import has_errors
from paddlespec.report.moments import duration, moment
from paddlespec.report.table import Column, table
from paddlespec.runs.history import as_data

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from paddlespec.runs.history import Recorded, RunRecord
    from paddlespec.shapes.runs import History, OneRun

_SPACE = Column("NAMESPACE", cut=True)
_COLUMNS = (
    Column("NAME", cut=True),
    Column("RUN", right=True),
    Column("STATE"),
    Column("STARTED"),
    Column("TIME", right=True),
    Column("WHO", cut=True),
    Column("COMMIT"),
    Column("SPEC", wide=True),
    Column("CI", wide=True, cut=True),
)


def runs(
    recorded: Sequence[Recorded],
    now: datetime,
    *,
    spaces: bool = False,
    wide: bool = False,
    width: int | None = None,
) -> str:
    """Print a row for each run, the latest last; *spaces* adds the namespaces."""
    columns = [*([_SPACE] if spaces else []), *_COLUMNS]
    rows = [
        [*([job.namespace] if spaces else []), job.job, *_cells(run, now)]
        for job in recorded
        for run in job.history.runs
    ]
    return table(columns, rows, wide=wide, width=width)


def listed(recorded: Sequence[Recorded]) -> History:
    """Return jobs with their runs, the oldest first."""
    return {
        "jobs": [
            {
                "namespace": job.namespace,
                "name": job.job,
                "runs": [as_data(run) for run in job.history.runs],
            }
            for job in recorded
        ]
    }


def one(recorded: Recorded, run: RunRecord) -> OneRun:
    """Return one run with the spec that was applied, if it is stored."""
    return {
        "namespace": recorded.namespace,
        "name": recorded.job,
        **as_data(run),
        "spec": None if run.spec is None else parsed(run.spec),
    }


def parsed(spec: str) -> Any:
    """Parse an effective spec, which is stored as text; damaged ones stay text."""
    from paddlespec.spec.source import read

    reading = read(spec, "spec")
    if has_errors(reading.diagnostics) or len(reading.documents) != 1:
        return spec
    return reading.documents[0].data


def lasted(run: RunRecord, now: datetime) -> str:
    """Format how long a run took or has been running, in two units; empty if unknown."""
    start, end = moment(run.started), moment(run.finished)
    if start is None or (end is None and run.is_over):
        return ""
    return duration(((end or now) - start).total_seconds())


def _cells(run: RunRecord, now: datetime) -> list[str]:
    source = run.provenance
    commit = (source.commit or "")[:7] + ("+dirty" if source.commit and source.dirty else "")
    return [
        str(run.number),
        run.state.value,
        run.started or "",
        lasted(run, now),
        source.who,
        commit,
        run.fingerprint or "",
        source.ci or "",
    ]
