"""Which connection a command uses when no option chooses one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.pipeline import Loaded
    from paddlespec.project import Project
    from paddlespec.settings import Place, Settings


class Usual(NamedTuple):
    """The context and namespace for jobs that are named and not rendered."""

    context: str | None = None
    namespace: str | None = None


@lru_cache
def own() -> Settings:
    """The person's own configuration, read once for a command."""
    from paddlespec.settings import load

    return load()


@lru_cache
def here() -> Project | None:
    """The project file that governs the current folder."""
    from paddlespec.files import Files

    return Files().project("")


def usual() -> Usual:
    """
    The current datacenter's connection.

    Without a current datacenter it is kubectl's own choice: a project file says where its jobs
    are rendered for, and not where a person looks.
    """
    from paddlespec.settings import place

    settings = own()
    if not settings.data:
        return Usual()
    found = place(settings, here() if settings.datacenter else None)
    return Usual(found.context.value, found.namespace.value)


def place_of(name: str | None, project: Project | None, *, chosen: bool = False) -> Place:
    """
    How to reach the datacenter *name*, or the current one.

    Raises `Stop` for one that nobody knows, or has a context of, unless a context is *chosen*.
    """
    from paddlespec.cli.exits import Exit, Stop
    from paddlespec.diagnostic import did_you_mean
    from paddlespec.settings import place

    known = [*own().connections, *(project.datacenters if project else ())]
    if name is not None and name not in known and not chosen:
        hint = did_you_mean(name, known) or f"paddlespec config add {name} --context CONTEXT"
        raise Stop(Exit.usage, f'no datacenter is called "{name}"', hint)
    found = place(own(), project, name)
    current = found.datacenter.value
    if current and not found.context.value and not chosen:
        hint = f"paddlespec config add {current} --context CONTEXT, or give --context"
        raise Stop(Exit.usage, f"no context is known for {current}", hint)
    return found


def context_for(loaded: Loaded) -> str | None:
    """The context for the datacenter that a job was rendered for."""
    from paddlespec.settings import place

    return place(own(), loaded.project, loaded.datacenter).context.value


def namespace_for(loaded: Loaded) -> str | None:
    """One's own namespace there, where neither the spec nor the project names one."""
    from paddlespec.settings import place

    own_namespace = getattr(loaded.job.metadata, "namespace", None)
    return own_namespace or place(own(), loaded.project, loaded.datacenter).namespace.value


def agree(jobs: Sequence[Loaded], context: str | None) -> None:
    """Refuse to go to another datacenter than a job was rendered for; *context* is an own choice."""
    from paddlespec.backend import OperationFailed
    from paddlespec.settings import disagreement

    for each in jobs if context is None else ():
        found = disagreement(own(), each.project, each.datacenter)
        if found is not None and each.target != "local":
            told, hint = found
            raise OperationFailed(f"{each.job.metadata.name}: {told}", hint)
