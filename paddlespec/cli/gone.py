"""Jobs whose specs are gone from a folder: `--prune` finds them by what their inventories say."""

from __future__ import annotations

import os
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, cast

from paddlespec.cli import connect
from paddlespec.cli.exits import Exit, Stop
from paddlespec.cli.places import LOCAL, context_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.backend import Mode
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.engine import Engine
    from paddlespec.cluster.retire import Recorded
    from paddlespec.diff import Comparison
    from paddlespec.files import Files
    from paddlespec.pipeline import Loaded
    from paddlespec.project import Project


class Scope(NamedTuple):
    """Part of a project: folders below its file, the jobs that are left there, and their places."""

    project: Project
    folders: tuple[PurePosixPath, ...]
    names: tuple[str, ...]
    places: tuple[tuple[str | None, str | None], ...]

    @property
    def folder(self) -> str:
        """Where the project file is."""
        return os.path.dirname(os.path.abspath(self.project.path))

    def covers(self, source: str) -> bool:
        """Whether a spec was in one of the folders."""
        path = PurePosixPath(source)
        return any(each in path.parents for each in self.folders)


class Gone(NamedTuple):
    """A job whose spec is gone, and who can end it."""

    job: Recorded
    engine: Engine


def scopes(paths: Sequence[str], jobs: Sequence[Loaded]) -> list[Scope]:
    """
    Where to look; raises `Stop` where nothing could be found.

    Only in folders that were given, and only in places that the jobs left there are applied to.
    """
    folders = [os.path.abspath(each) for each in paths if os.path.isdir(each)]
    projects = {
        os.path.abspath(each.project.path): each.project
        for each in jobs
        if each.project is not None and each.project.name
    }
    if folders and not projects:
        raise Stop(
            Exit.usage,
            f"--prune {paths[0]}: its jobs belong to no project, so that deleted specs are unknown",
            "name it in .paddlespec.yaml, such as `project: ads`; files alone need no project",
        )
    found = []
    for path, project in projects.items():
        home = os.path.dirname(path)
        below = tuple(
            PurePosixPath(PurePath(os.path.relpath(each, home)).as_posix())
            if _is_below(each, home)
            else PurePosixPath(".")
            for each in folders
            if _is_below(each, home) or _is_below(home, each)
        )
        own = [
            each
            for each in jobs
            if each.target != LOCAL
            and each.project is not None
            and os.path.abspath(each.project.path) == path
        ]
        names = tuple(each.job.metadata.name for each in own)
        places = dict.fromkeys((context_of(each), connect.namespace_for(each)) for each in own)
        if below and places:
            found.append(Scope(project, below, names, tuple(places)))
    return found


def gone(
    where: Sequence[Scope], engines: Engines, files: Files, datacenter: str | None
) -> Iterator[Gone]:
    """The jobs whose specs are gone; raises `OperationFailed` where a file cannot be read."""
    for scope in where:
        name = scope.project.name
        assert name is not None
        found: dict[tuple[str | None, str, str], Gone] = {}
        for context, namespace in scope.places:
            engine = cast("Engine", engines.at(context, namespace))
            for job in engine.recorded(name):
                if scope.covers(job.source):
                    key = (context, engine.namespace, job.name)
                    found.setdefault(key, Gone(job, engine))
        if found:
            held = _held(scope, found.values(), files, datacenter)
            yield from (each for each in found.values() if each.job.name not in held)


def retire(
    where: Sequence[Scope],
    engines: Engines,
    datacenter: str | None,
    mode: Mode,
    *,
    force_unlock: bool,
) -> list[int]:
    """End what is over of the jobs whose specs are gone; the exit codes of those that are not."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.tell import failed, told
    from paddlespec.files import Files

    codes = []
    try:
        found = list(gone(where, engines, Files(), datacenter))
    except OperationFailed as error:
        return [failed("--prune", error)]
    for job, engine in found:
        try:
            engine.retire(job, mode, told, force_unlock=force_unlock)
        except OperationFailed as error:
            codes.append(failed(job.name, error))
    return codes


def compare(
    where: Sequence[Scope], engines: Engines, datacenter: str | None, codes: list[int]
) -> Iterator[Comparison]:
    """What `retire` would do, as comparisons; what fails adds to *codes*."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.tell import failed
    from paddlespec.diff import Comparison
    from paddlespec.files import Files

    try:
        found = list(gone(where, engines, Files(), datacenter))
    except OperationFailed as error:
        codes.append(failed("--prune", error))
        return
    for job, engine in found:
        try:
            compared = engine.compare_retired(job)
        except OperationFailed as error:
            codes.append(failed(job.name, error))
            continue
        if compared.rows:
            yield Comparison(job.name, engine.namespace, "the cluster", *compared)


def _held(scope: Scope, found: Iterable[Gone], files: Files, datacenter: str | None) -> set[str]:
    """The jobs that specs of the whole project name: one that was moved is not gone."""
    from paddlespec.backend import OperationFailed
    from paddlespec.pipeline import Choices, load

    held = set(scope.names)
    asked = Choices(datacenter=datacenter)
    names, faults = files.specs([scope.folder])
    for path in names:
        jobs, wrong = load(path, files, asked)
        faults += wrong
        for each in jobs:
            name = getattr(each.job.metadata, "name", None)
            if isinstance(name, str):
                held.add(name)
    told = [str(each) for each in faults if each.is_error]
    read = {os.path.abspath(each) for each in names}
    for job, _ in found:
        # What is broken may not look like a spec any more.
        path = os.path.join(scope.folder, *PurePosixPath(job.source).parts)
        if job.name not in held and os.path.lexists(path) and path not in read:
            told.append(f"{job.source} is there and no spec")
    if told:
        raise OperationFailed(
            f"{told[0]}: which jobs have a spec is not known, and none is deleted",
            "repair or delete the file",
        )
    return held


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder
