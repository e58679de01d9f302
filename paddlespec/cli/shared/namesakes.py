"""Jobs that would collide: the same name in the same namespace of the same place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.diagnostic import Diagnostic, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.pipeline import Loaded

_PATH = ("metadata", "name")


class Named(NamedTuple):
    """What distinguishes a job from others, and where its name is written."""

    place: tuple[str, str | None]
    namespace: str | None
    name: str | None
    file: str
    span: Span


def named(loaded: Loaded) -> Named:
    """The place, namespace and name of a job that need not be valid."""
    metadata = loaded.job.metadata
    namespace, name = (getattr(metadata, key, None) for key in ("namespace", "name"))
    span = loaded.document.locate(_PATH)
    return Named(_place(loaded), namespace, name, loaded.file, span)


def namesakes(jobs: Iterable[Named]) -> Iterator[Diagnostic]:
    """A diagnostic for each job that shares its name: an apply refuses them."""
    groups: dict[tuple[object, ...], list[Named]] = {}
    spelt: dict[str, str] = {}
    for job in jobs:
        # A file may be given twice, by itself and by its folder.
        again = spelt.setdefault(os.path.abspath(job.file), job.file) != job.file
        if job.name is not None and not again:
            groups.setdefault(job[:3], []).append(job)
    for group in groups.values():
        for index, job in enumerate(group if len(group) > 1 else ()):
            other = group[1 if index == 0 else 0]
            # A name that comes from an option has no position in a file.
            where = other.span if other.span.line else other.file
            message = f'another job is called "{job.name}" too: {where}'
            hint = "give the jobs different names, or namespaces"
            yield Diagnostic("duplicate-job", message, job.span, _PATH, hint)


def _place(loaded: Loaded) -> tuple[str, str | None]:
    """The backend of a job, and its datacenter if the backend has several places."""
    from paddlespec import backends
    from paddlespec.targets import UnknownTarget

    try:
        backend = backends.of_target(loaded.target)
    except UnknownTarget:  # which is a diagnostic of its own
        return loaded.target, loaded.datacenter
    return backend.name, loaded.datacenter if backend.has_datacenters else None
