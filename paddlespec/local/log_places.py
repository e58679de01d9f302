"""Where the logs of jobs are that ran on this machine: one folder per run, below the user's state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import NotFound, OperationFailed
from paddlespec.diagnostic import nearest
from paddlespec.local import state
from paddlespec.local.folder import DEFAULT_NAMESPACE, JobFolder, jobs
from paddlespec.local.log_reader import FileReader, LocalLogs
from paddlespec.logs.descriptors import allow_files
from paddlespec.logs.line import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.logs.start import Start


class LocalRun(NamedTuple):
    """One run of a job on this machine."""

    place: JobFolder
    number: int

    @property
    def job(self) -> str:
        """The name of the job."""
        return self.place.name

    @property
    def folder(self) -> str:
        """Everything of the run."""
        return self.place.run(self.number)


def run_of(job: str, namespace: str | None, number: int | None, back: int) -> LocalRun:
    """
    The run *number* of *job* or its latest one, or the one that is *back* runs before that.

    Raises `NotFound`.
    """
    place = _place(job, namespace)
    known = _started(place)
    if not known:
        raise NotFound(f"{job} has not run on this machine")
    wanted = known[-1] if number is None else number
    earlier = [each for each in known if each < wanted]
    if back and wanted in known:
        if len(earlier) < back:
            raise NotFound(f"there is no run of {job} before run {wanted}", _listed(known))
        wanted = earlier[-back]
    if wanted not in known:
        raise NotFound(f"{job} has no run {wanted} on this machine", _listed(known))
    return LocalRun(place, wanted)


def sources(run: LocalRun) -> list[Source]:
    """The replicas of *run*, trainers first."""
    found = run.place.launch(run.number)
    if found is None:
        raise OperationFailed(
            f"run {run.number} of {run.job} cannot be read",
            f"expected its processes in {os.path.join(run.folder, 'launch.json')}",
        )
    listed = [Source(each.role, each.replica, each.name) for each in found.processes]
    return sorted(listed, key=lambda each: (each.role != "trainers", each.role, each.replica))


def logs(
    run: LocalRun,
    chosen: Sequence[Source],
    start: Start,
    tell: Callable[[str], None],
    *,
    pieces: bool,
) -> LocalLogs:
    """The logs of *chosen* replicas of *run*."""
    allow_files(2 * len(chosen))
    folder = os.path.join(run.folder, "logs")
    readers = [
        FileReader(each, os.path.join(folder, f"{each.name}.log"), tell, start, pieces=pieces)
        for each in chosen
    ]
    return LocalLogs(readers, lambda: is_over(run))


class Kept:
    """The logs of a run on this machine, for the command that shows them."""

    def __init__(self, job: str, namespace: str | None, number: int | None, back: int) -> None:
        self._run = run_of(job, namespace, number, back)
        self.sources = sources(self._run)

    def logs(
        self,
        chosen: Sequence[Source],
        start: Start,
        tell: Callable[[str], None],
        *,
        follow: bool,  # noqa: ARG002 - files do not care who waits
        pieces: bool,
    ) -> LocalLogs:
        """The logs of *chosen* replicas."""
        return logs(self._run, chosen, start, tell, pieces=pieces)

    def verdict(self) -> str | None:
        """Why the run failed, if it did."""
        return verdict(self._run)


def is_over(run: LocalRun) -> bool:
    """Whether nothing is written any more; a run that is about to begin is not over."""
    found = state.read(run.folder)
    if found is None:
        return not state.is_alive(run.folder)
    return found.phase.is_over


def verdict(run: LocalRun) -> str | None:
    """Why *run* failed, and who failed first, if it did."""
    found = state.read(run.folder)
    if found is None or found.phase not in (state.Phase.failed, state.Phase.lost):
        return None
    told = f"run {run.number} of {run.job}"
    if found.phase is state.Phase.lost:
        return f"{told} was lost: {found.message or 'nobody saw its end'}"
    if found.culprit is None:
        return f"{told} failed" + (f": {found.message}" if found.message else "")
    return f"{told} failed; {found.culprit.name} was the first: {found.culprit.ending}"


def _place(job: str, namespace: str | None) -> JobFolder:
    """The folder of *job*: in the namespace that is named, the usual one, or the only one."""
    known = [each for each in jobs() if namespace in (None, each.namespace)]
    having = [each for each in known if each.name == job]
    usual = [each for each in having if each.namespace == DEFAULT_NAMESPACE]
    if usual or len(having) == 1:
        return (usual or having)[0]
    if having:
        spaces = ", ".join(each.namespace for each in having)
        raise OperationFailed(
            f"{job} has run in several namespaces: {spaces}", "name one: --namespace"
        )
    close = nearest(job, [each.name for each in known])
    inside = f" in namespace {namespace}" if namespace else ""
    elsewhere = "on the cluster: --target kubernetes"
    raise NotFound(
        f"{job} has not run on this machine{inside}",
        f'did you mean "{close}"?' if close else elsewhere,
    )


def _started(place: JobFolder) -> list[int]:
    """The runs that came as far as to start."""
    runs = os.path.join(place.path, "runs")
    try:
        numbers = sorted(int(each) for each in os.listdir(runs) if each.isdecimal())
    except FileNotFoundError:
        return []
    return [each for each in numbers if os.path.exists(f"{place.run(each)}/launch.json")]


def _listed(known: Sequence[int]) -> str:
    return f"its runs: {', '.join(map(str, known))}"
