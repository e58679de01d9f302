"""The runs of jobs, as they are recorded: for people, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.history import as_data
from paddlespec.report.moments import duration, moment
from paddlespec.report.table import Column, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from paddlespec.history import Recorded, RunRecord
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
    """One line for each run, the latest last; *spaces* names the namespaces."""
    columns = [*([_SPACE] if spaces else []), *_COLUMNS]
    rows = [
        [*([each.namespace] if spaces else []), each.job, *_cells(run, now)]
        for each in recorded
        for run in each.history.runs
    ]
    return table(columns, rows, wide=wide, width=width)


def listed(recorded: Sequence[Recorded]) -> History:
    """Jobs with their runs, oldest first."""
    return {
        "jobs": [
            {
                "namespace": each.namespace,
                "name": each.job,
                "runs": [as_data(run) for run in each.history.runs],
            }
            for each in recorded
        ]
    }


def one(recorded: Recorded, run: RunRecord) -> OneRun:
    """One run with the spec that was applied, as far as that is kept."""
    return {
        "namespace": recorded.namespace,
        "name": recorded.job,
        **as_data(run),
        "spec": None if run.spec is None else parsed(run.spec),
    }


def parsed(spec: str) -> Any:
    """An effective spec, which is kept as text, as data."""
    import yaml

    try:
        return yaml.safe_load(spec)
    except yaml.YAMLError:
        return spec


def lasted(run: RunRecord, now: datetime) -> str:
    """How long a run took, or takes already, in its two largest units; nothing if unknown."""
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
