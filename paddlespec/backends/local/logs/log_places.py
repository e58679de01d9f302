"""Find the logs of jobs that ran on this machine: one folder per run, in the user's state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.local.logs.log_reader import FileReader, LocalLogs
from paddlespec.backends.local.store import run_state
from paddlespec.backends.local.store.job_folder import DEFAULT_NAMESPACE, JobFolder, jobs
from paddlespec.diagnostic import nearest
from paddlespec.logs.descriptors import allow_files
from paddlespec.logs.line import Source
from paddlespec.runs.failures import NotFound, OperationFailed

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
        """The folder of the run."""
        return self.place.run(self.number)


def run_of(job: str, namespace: str | None, number: int | None, back: int) -> LocalRun:
    """
    Return run *number* of *job*, or the latest one, or the one *back* runs before it.

    Raises `NotFound`.
    """
    place = _place(job, namespace)
    known = _started(place)
    if not known:
        raise NotFound(f"{job} has not run on this machine")
    chosen = known[-1] if number is None else number
    earlier = [other for other in known if other < chosen]
    if back and chosen in known:
        if len(earlier) < back:
            raise NotFound(f"{job} has no run before run {chosen}", _listed(known))
        chosen = earlier[-back]
    if chosen not in known:
        raise NotFound(f"{job} has no run {chosen} on this machine", _listed(known))
    return LocalRun(place, chosen)


def sources(run: LocalRun) -> list[Source]:
    """Return the replicas of *run*, trainers first."""
    launch = run.place.launch(run.number)
    if launch is None:
        raise OperationFailed(
            f"cannot read the processes of run {run.number} of {run.job}",
            f"check {os.path.join(run.folder, 'launch.json')}",
        )
    listed = [Source(process.role, process.replica, process.name) for process in launch.processes]
    return sorted(
        listed, key=lambda source: (source.role != "trainers", source.role, source.replica)
    )


def logs(
    run: LocalRun,
    chosen: Sequence[Source],
    start: Start,
    report: Callable[[str], None],
    *,
    pieces: bool,
) -> LocalLogs:
    """Return the logs of *chosen* replicas of *run*."""
    allow_files(2 * len(chosen))
    folder = os.path.join(run.folder, "logs")
    readers = [
        FileReader(source, os.path.join(folder, f"{source.name}.log"), report, start, pieces=pieces)
        for source in chosen
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
        report: Callable[[str], None],
        *,
        follow: bool,  # noqa: ARG002 - files are read the same way
        pieces: bool,
    ) -> LocalLogs:
        """Return the logs of *chosen* replicas."""
        return logs(self._run, chosen, start, report, pieces=pieces)

    def verdict(self) -> str | None:
        """Say why the run failed, if it did."""
        return verdict(self._run)


def is_over(run: LocalRun) -> bool:
    """Report whether the run has ended; one that is about to start has not."""
    state = run_state.read(run.folder)
    if state is None:
        return not run_state.is_alive(run.folder)
    return state.phase.is_over


def verdict(run: LocalRun) -> str | None:
    """Say why *run* failed and which replica failed first, if it did."""
    state = run_state.read(run.folder)
    if state is None or state.phase not in (run_state.Phase.failed, run_state.Phase.lost):
        return None
    name = f"run {run.number} of {run.job}"
    if state.phase is run_state.Phase.lost:
        return f"{name} was lost: {state.message or 'its result is unknown'}"
    if state.culprit is None:
        return f"{name} failed" + (f": {state.message}" if state.message else "")
    return f"{name} failed; first failure: {state.culprit.name}, {state.culprit.ending}"


def _place(job: str, namespace: str | None) -> JobFolder:
    """Return the folder of *job*: in *namespace*, else in the default namespace or the only one."""
    known = [place for place in jobs() if namespace in (None, place.namespace)]
    candidates = [place for place in known if place.name == job]
    usual = [place for place in candidates if place.namespace == DEFAULT_NAMESPACE]
    if usual or len(candidates) == 1:
        return (usual or candidates)[0]
    if candidates:
        spaces = ", ".join(place.namespace for place in candidates)
        raise OperationFailed(
            f"{job} has run in several namespaces: {spaces}", "choose one with --namespace"
        )
    close = nearest(job, [place.name for place in known])
    inside = f" in namespace {namespace}" if namespace else ""
    elsewhere = "for a job on a cluster, add --target kubernetes"
    raise NotFound(
        f"{job} has not run on this machine{inside}",
        f'did you mean "{close}"?' if close else elsewhere,
    )


def _started(place: JobFolder) -> list[int]:
    """Return the numbers of the runs that started."""
    runs = os.path.join(place.path, "runs")
    try:
        numbers = sorted(int(number) for number in os.listdir(runs) if number.isdecimal())
    except FileNotFoundError:
        return []
    return [number for number in numbers if os.path.exists(f"{place.run(number)}/launch.json")]


def _listed(known: Sequence[int]) -> str:
    return f"use one of its runs: {', '.join(map(str, known))}"
