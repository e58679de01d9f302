"""
Targets: render a job for a platform.

A target is pure: it reports what it does not support, plans, and renders. Third-party targets
register in an entry-point group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoints

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job
    from paddlespec.render.manifest import Manifest
    from paddlespec.render.runtime import Context, Naming
    from paddlespec.render.template import Templates

GROUP = "paddlespec.targets"
_BUILT_IN = {
    "kubernetes": "paddlespec.targets.kubernetes",
    "jobset": "paddlespec.targets.jobset",
    "local": "paddlespec.targets.local",
}


class Plan(Protocol):
    """The decisions of a target, in its own type."""


class Target(Protocol):
    """
    The interface of a target, implemented by a module.

    `backend` names the backend that runs its manifests, `naming` defines the names of hosts.
    """

    backend: str
    naming: Naming

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        """Report fields the target does not support; it must never ignore one."""

    def render(self, job: Job, context: Context, templates: Templates) -> list[Manifest]:
        """Render the objects of *job*."""


class UnknownTarget(Exception):
    """Raised if no target of that name is installed."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f'unknown target "{name}"')
        self.name, self.known = name, known


def load(name: str) -> Target:
    """Load the target *name*; third-party targets are searched only if it is not built in."""
    from importlib import import_module

    if name in _BUILT_IN:
        module: Target = import_module(_BUILT_IN[name])
        return module
    target: Target = _installed(name)[name].load()
    return target


def built_in() -> list[str]:
    """Return the built-in targets."""
    return list(_BUILT_IN)


def known() -> list[str]:
    """Return every installed target."""
    from importlib.metadata import entry_points

    return [*_BUILT_IN, *sorted(entry_points(group=GROUP).names - _BUILT_IN.keys())]


def must_exist(name: str) -> None:
    """Raise `UnknownTarget` unless *name* is a target, without loading it."""
    if name not in _BUILT_IN:
        _installed(name)


def _installed(name: str) -> EntryPoints:
    """Return the third-party targets; raises `UnknownTarget` unless *name* is one."""
    from importlib.metadata import entry_points

    installed = entry_points(group=GROUP)
    if name not in installed.names:
        raise UnknownTarget(name, sorted({*_BUILT_IN, *installed.names}))
    return installed
