"""
Targets: how a job becomes something that runs.

A target is pure: it says what it cannot do, plans, and renders. Built-in targets are found through
the entry-point group that third parties use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoints

    from paddlespec.checks import Facts
    from paddlespec.contract import Context
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job
    from paddlespec.template import Templates

GROUP = "paddlespec.targets"
_BUILT_IN = {
    "kubernetes": "paddlespec.targets.kubernetes",
    "local": "paddlespec.targets.local",
}


class Plan(Protocol):
    """What will run, decided; a target's own type."""


class Target(Protocol):
    """Satisfied by a module."""

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        """What this target cannot do for the job, at its place: never a dropped field."""

    def render(self, job: Job, context: Context, templates: Templates) -> list[Manifest]:
        """The objects that the job is there."""


class UnknownTarget(Exception):
    """No target of that name is installed."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f'no target is called "{name}"')
        self.name, self.known = name, known


def load(name: str) -> Target:
    """The target called *name*; third-party ones are looked for only when it is not built in."""
    from importlib import import_module

    if name in _BUILT_IN:
        module: Target = import_module(_BUILT_IN[name])
        return module
    target: Target = _installed(name)[name].load()
    return target


def must_exist(name: str) -> None:
    """Raise `UnknownTarget` for what is no target; nothing is loaded."""
    if name not in _BUILT_IN:
        _installed(name)


def _installed(name: str) -> EntryPoints:
    """The targets of third parties, with *name* among them."""
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    if name not in found.names:
        raise UnknownTarget(name, sorted({*_BUILT_IN, *found.names}))
    return found
