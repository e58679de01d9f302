"""Jobs that would be one: the same name in the same namespace of the same place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.diagnostic import Diagnostic, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.pipeline import Loaded

_PATH = ("metadata", "name")
_LOCAL = "local"


class Named(NamedTuple):
    """A job by what tells it from others, and where its name is written, if it has one."""

    place: str | None
    namespace: str | None
    name: str | None
    file: str
    span: Span


def named(loaded: Loaded) -> Named:
    """What *loaded* is called, as far as that can be read."""
    metadata = loaded.job.metadata
    place = _LOCAL if loaded.target == _LOCAL else loaded.datacenter
    namespace, name = (getattr(metadata, each, None) for each in ("namespace", "name"))
    return Named(place, namespace, name, loaded.file, loaded.document.locate(_PATH))


def namesakes(jobs: Iterable[Named]) -> Iterator[Diagnostic]:
    """A finding at each job that another one shares its name with: an apply refuses them."""
    groups: dict[tuple[str | None, ...], list[Named]] = {}
    spelt: dict[str, str] = {}
    for each in jobs:
        # A file may be given twice, as itself and by its folder.
        again = spelt.setdefault(os.path.abspath(each.file), each.file) != each.file
        if each.name is not None and not again:
            groups.setdefault(each[:3], []).append(each)
    for group in groups.values():
        for index, each in enumerate(group if len(group) > 1 else ()):
            other = group[1 if index == 0 else 0]
            # A name that an option gives stands in no file.
            where = other.span if other.span.line else other.file
            message = f'another job is called "{each.name}" too: {where}'
            hint = "give the jobs different names, or namespaces"
            yield Diagnostic("duplicate-job", message, each.span, _PATH, hint)
