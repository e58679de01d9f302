"""Jobs whose specs were deleted from a folder: `--prune` finds them by what was recorded."""

from __future__ import annotations

import os
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared.datacenters import place_of
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.job_refs import backend_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.backends.capabilities import Retires
    from paddlespec.backends.protocols import Engine
    from paddlespec.change.diff import Comparison
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.results import Results
    from paddlespec.pipeline import Loaded
    from paddlespec.runs.values import Mode, Orphan
    from paddlespec.spec.files import Files
    from paddlespec.spec.project import Project


class Searched(NamedTuple):
    """A place to look in; `context` tells places apart, `where` names them to people."""

    engine: Engine
    context: str | None
    where: str


class Scope(NamedTuple):
    """Part of a project: folders below its file, the jobs that remain there, and their places."""

    project: Project
    folders: tuple[PurePosixPath, ...]
    names: tuple[str, ...]
    places: tuple[Searched, ...]

    @property
    def folder(self) -> str:
        """The folder of the project file."""
        return os.path.dirname(os.path.abspath(self.project.path))

    def covers(self, source: str) -> bool:
        """Whether a spec was in one of the folders."""
        path = PurePosixPath(source)
        return any(folder in path.parents for folder in self.folders)


class Deleted(NamedTuple):
    """A job whose spec was deleted, and what can delete the job."""

    job: Orphan
    place: Searched
    retires: Retires


def scopes(paths: Sequence[str], jobs: Sequence[Loaded], engines: Engines) -> list[Scope]:
    """
    Where to look: in the given folders, and in places that the jobs left there are applied to.

    Raises `Stop` if no folder belongs to a project.
    """
    folders = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
    projects = {
        os.path.abspath(job.project.path): job.project
        for job in jobs
        if job.project is not None and job.project.name
    }
    if folders and not projects:
        raise Stop(
            Exit.usage,
            f"--prune {paths[0]}: its jobs belong to no project, so deleted specs are unknown",
            "name the project in .paddlespec.yaml, such as `project: ads`",
        )
    found = []
    for path, project in projects.items():
        home = os.path.dirname(path)
        below = tuple(
            PurePosixPath(PurePath(os.path.relpath(folder, home)).as_posix())
            if _is_below(folder, home)
            else PurePosixPath(".")
            for folder in folders
            if _is_below(folder, home) or _is_below(home, folder)
        )
        own = {
            job.job.metadata.name: _place_of(job, engines)
            for job in jobs
            if job.project is not None and os.path.abspath(job.project.path) == path
        }
        kept = {name: place for name, place in own.items() if place.engine.capabilities.retires}
        if below and kept:
            places = tuple(dict.fromkeys(kept.values()))
            found.append(Scope(project, below, tuple(kept), places))
    return found


def deleted(where: Sequence[Scope], files: Files, datacenter: str | None) -> Iterator[Deleted]:
    """The jobs whose specs were deleted; raises `OperationFailed` if a file cannot be read."""
    for scope in where:
        name = scope.project.name
        assert name is not None
        found: dict[tuple[str | None, str, str], Deleted] = {}
        for place in scope.places:
            retires = place.engine.capabilities.retires
            assert retires is not None
            for job in retires.recorded(name):
                if scope.covers(job.source):
                    key = (place.context, place.engine.namespace, job.name)
                    found.setdefault(key, Deleted(job, place, retires))
        if found:
            jobs = [deleted.job for deleted in found.values()]
            kept = _with_spec(scope, jobs, files, datacenter)
            yield from (deleted for deleted in found.values() if deleted.job.name not in kept)


def retire(
    where: Sequence[Scope],
    datacenter: str | None,
    mode: Mode,
    results: Results,
    *,
    force_unlock: bool,
) -> list[int]:
    """Delete finished jobs whose specs were deleted; returns the exit codes of failures."""
    from paddlespec.cli.shared.output import report_failure
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.spec.files import Files

    codes = []
    try:
        found = list(deleted(where, Files(), datacenter))
    except OperationFailed as error:
        return [report_failure("--prune", error)]
    for job, place, retires in found:
        facts = {"namespace": place.engine.namespace, "result": "deleted", "uid": None}
        results.update(job.name, **facts)
        try:
            retires.retire(job, mode, results.reporter(job.name), force_unlock=force_unlock)
        except OperationFailed as error:
            results.failed(job.name, error)
            codes.append(report_failure(job.name, error))
    return codes


def compare(
    where: Sequence[Scope], datacenter: str | None, codes: list[int]
) -> Iterator[Comparison]:
    """What `retire` would do, as comparisons; failures add to *codes*."""
    from paddlespec.change.diff import Comparison
    from paddlespec.cli.shared.output import report_failure
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.spec.files import Files

    try:
        found = list(deleted(where, Files(), datacenter))
    except OperationFailed as error:
        codes.append(report_failure("--prune", error))
        return
    for job, place, retires in found:
        try:
            compared = retires.compare_orphan(job)
        except OperationFailed as error:
            codes.append(report_failure(job.name, error))
            continue
        if compared.rows:
            yield Comparison(job.name, place.engine.namespace, place.where, *compared)


def _with_spec(
    scope: Scope, orphans: Iterable[Orphan], files: Files, datacenter: str | None
) -> set[str]:
    """The jobs that specs of the whole project name: a spec that was moved is not deleted."""
    from paddlespec.pipeline import Choices, load
    from paddlespec.runs.failures import OperationFailed

    kept = set(scope.names)
    chosen = Choices(datacenter=datacenter)
    names, faults = files.specs([scope.folder])
    for path in names:
        jobs, wrong = load(path, files, chosen)
        faults += wrong
        for job in jobs:
            name = getattr(job.job.metadata, "name", None)
            if isinstance(name, str):
                kept.add(name)
    problems = [str(fault) for fault in faults if fault.is_error]
    read = {os.path.abspath(name) for name in names}
    for orphan in orphans:
        # A broken file may not look like a spec.
        path = os.path.join(scope.folder, *PurePosixPath(orphan.source).parts)
        if orphan.name not in kept and os.path.lexists(path) and path not in read:
            problems.append(f"{orphan.source} exists but is not a spec")
    if problems:
        raise OperationFailed(
            f"{problems[0]}: cannot tell which jobs have a spec, so none is deleted",
            "repair or delete the file",
        )
    return kept


def _place_of(job: Loaded, engines: Engines) -> Searched:
    backend = backend_of(job.target)
    return Searched(engines.of(job), place_of(job, backend).context, backend.where)


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder
