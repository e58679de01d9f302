"""Datacenters: how the user reaches them, and which one a command goes to without options."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.protocols import Backend, Place
    from paddlespec.config.settings import Place as Datacenter
    from paddlespec.config.settings import Settings
    from paddlespec.pipeline import Loaded
    from paddlespec.spec.project import Project


@lru_cache
def settings() -> Settings:
    """The user's own configuration, read once per command."""
    from paddlespec.config.settings import load

    return load()


@lru_cache
def project() -> Project | None:
    """The project file that governs the current folder."""
    from paddlespec.spec.files import Files

    return Files().project("")


def valid_project() -> Project | None:
    """The project file that governs the current folder; raises `InvalidSpec` for its errors."""
    from paddlespec.diagnostic import InvalidSpec, has_errors

    found = project()
    if found is not None and has_errors(found.diagnostics):
        raise InvalidSpec(found.diagnostics)
    return found


def names() -> list[str]:
    """Every datacenter of the project and of the user."""
    found = project()
    return list(dict.fromkeys([*(found.datacenters if found else ()), *settings().connections]))


def current() -> Place:
    """
    Where a job given by name is looked for.

    A project file says where its jobs are rendered for, and not where a user looks: without a
    current datacenter, kubectl's own context decides.
    """
    from paddlespec.backends.protocols import Place
    from paddlespec.config.settings import place

    own = settings()
    if not own.data:
        return Place()
    found = place(own, project() if own.datacenter else None)
    return Place(found.context.value, found.namespace.value)


def connection(name: str | None, governing: Project | None, *, chosen: bool = False) -> Datacenter:
    """
    How to reach the datacenter *name*, or the current one.

    Raises `Stop` for an unknown datacenter, and for one without a context unless the command line
    has *chosen* one.
    """
    from paddlespec.cli.shared.exits import Exit, Stop
    from paddlespec.config.settings import place
    from paddlespec.diagnostic import did_you_mean

    known = [*settings().connections, *(governing.datacenters if governing else ())]
    if name is not None and name not in known and not chosen:
        hint = did_you_mean(name, known) or f"paddlespec config add {name} --context CONTEXT"
        raise Stop(Exit.usage, f'unknown datacenter "{name}"', hint)
    found = place(settings(), governing, name)
    label = found.datacenter.value
    if label and not found.context.value and not chosen:
        hint = f"paddlespec config add {label} --context CONTEXT, or give --context"
        raise Stop(Exit.usage, f'datacenter "{label}" has no context', hint)
    return found


def place_of(loaded: Loaded, backend: Backend) -> Place:
    """Where a job goes: to its datacenter, or to this machine with the datacenter's folders."""
    from paddlespec.backends.protocols import Place
    from paddlespec.config.settings import place

    governing, namespace = loaded.project, getattr(loaded.job.metadata, "namespace", None)
    if not backend.has_datacenters:
        claims = governing.local_claims(loaded.datacenter) if governing else {}
        return Place(None, namespace, tuple(sorted(claims.items())))
    found = place(settings(), governing, loaded.datacenter)
    context = None if loaded.datacenter is None else found.context.value
    return Place(context, namespace or found.namespace.value)


def refuse_other_datacenter(jobs: Sequence[Loaded], context: str | None) -> None:
    """
    Refuse to go to another datacenter than a job was rendered for.

    A *context* on the command line is the user's own choice. Raises `OperationFailed`.
    """
    from paddlespec import backends
    from paddlespec.config.settings import disagreement
    from paddlespec.runs.failures import OperationFailed

    for job in jobs if context is None else ():
        found = disagreement(settings(), job.project, job.datacenter)
        if found is not None and backends.of_target(job.target).has_datacenters:
            message, hint = found
            raise OperationFailed(f"{job.job.metadata.name}: {message}", hint)
