"""
Backends: the places where jobs run.

Several targets may share one backend. Built-in backends are loaded by name; others are found
through the entry-point group `paddlespec.backends`, only when needed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoints

    from paddlespec.backends.protocols import Backend

GROUP = "paddlespec.backends"
# The default place of jobs, unless an option or a running job selects another.
DEFAULT = "cluster"
_BUILT_IN = {
    "cluster": "paddlespec.backends.cluster.backend",
    "local": "paddlespec.backends.local.backend",
}


class UnknownBackend(Exception):
    """No backend of that name is installed."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f'unknown backend "{name}"; installed: {", ".join(known)}')
        self.name, self.known = name, known


def load(name: str) -> Backend:
    """Return the backend *name*; raises `UnknownBackend`."""
    from importlib import import_module

    if name in _BUILT_IN:
        module: Backend = import_module(_BUILT_IN[name])
        return module
    installed = _installed()
    if name not in installed.names:
        raise UnknownBackend(name, sorted({*_BUILT_IN, *installed.names}))
    backend: Backend = installed[name].load()
    return backend


def of_target(target: str) -> Backend:
    """Return the backend that runs what *target* renders; raises `UnknownTarget`."""
    from paddlespec import targets

    return load(targets.load(target).backend)


def others(name: str) -> Iterator[Backend]:
    """Every installed backend except *name*, built-in ones first."""
    for known in dict.fromkeys((*_BUILT_IN, *sorted(_installed().names))):
        if known != name:
            yield load(known)


@cache
def _installed() -> EntryPoints:
    """Return the backends of other packages."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)
