"""Where the logs of jobs are that ran on this machine: one folder per run, below the user's state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import NotFound, OperationFailed
from paddlespec.diagnostic import nearest
from paddlespec.local import launch, state
from paddlespec.local.log_reader import FileReader, LocalLogs, Start
from paddlespec.logs.line import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_DEFAULT = "default"


class LocalRun(NamedTuple):
    """One run of a job on this machine."""

    job: str
    namespace: str
    number: int
    folder: str


def root(environment: Mapping[str, str]) -> str:
    """The folder of everything that ran here, by namespace and job."""
    home = environment.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(home):  # as the XDG specification says of others
        home = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "paddlespec", "local")


def run_of(where: str, job: str, namespace: str | None, number: int | None, back: int) -> LocalRun:
    """
    The run *number* of *job* or its latest one, or the one that is *back* runs before that.

    Raises `NotFound`.
    """
    space = _namespace(where, job, namespace)
    folder = os.path.join(where, space, job, "runs")
    known = sorted(int(each) for each in _names(folder) if each.isdecimal())
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
    return LocalRun(job, space, wanted, os.path.join(folder, str(wanted)))


def sources(run: LocalRun) -> list[Source]:
    """The replicas of *run*, trainers first."""
    try:
        with open(os.path.join(run.folder, "launch.json"), encoding="utf-8") as file:
            found = launch.parse(file.read()).processes
    except (OSError, ValueError, KeyError, TypeError):
        raise OperationFailed(
            f"run {run.number} of {run.job} cannot be read",
            f"expected its processes in {os.path.join(run.folder, 'launch.json')}",
        ) from None
    listed = [Source(each.role, each.replica, each.name) for each in found]
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
    folder = os.path.join(run.folder, "logs")
    readers = [
        FileReader(each, os.path.join(folder, f"{each.name}.log"), tell, start, pieces=pieces)
        for each in chosen
    ]
    return LocalLogs(readers, lambda: is_over(run))


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


def _namespace(where: str, job: str, namespace: str | None) -> str:
    """Where *job* is: the namespace that is named, the usual one, or the only one that has it."""
    spaces = [namespace] if namespace else _names(where)
    having = [each for each in spaces if job in _names(os.path.join(where, each))]
    if _DEFAULT in having or len(having) == 1:
        return _DEFAULT if _DEFAULT in having else having[0]
    if having:
        raise OperationFailed(
            f"{job} has run in several namespaces: {', '.join(having)}", "name one: --namespace"
        )
    known = [name for each in spaces for name in _names(os.path.join(where, each))]
    close = nearest(job, known)
    inside = f" in namespace {namespace}" if namespace else ""
    raise NotFound(
        f"{job} has not run on this machine{inside}",
        f'did you mean "{close}"?'
        if close
        else f"on a cluster: kubectl logs --prefix -l paddlespec.io/job={job}",
    )


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _listed(known: Sequence[int]) -> str:
    return f"its runs: {', '.join(map(str, known))}"
