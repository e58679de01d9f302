"""Refusing what a place cannot do, with the command that works there instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.backends.protocols import Engine

Capability = TypeVar("Capability")


def needed(
    capability: Capability | None, engine: Engine, command: str, job: str = "NAME"
) -> Capability:
    """Return *capability*; raises `Stop` with the engine's explanation if it is None."""
    if capability is not None:
        return capability
    lack = engine.capabilities.lacks.get(command)
    if lack is None:
        raise Stop(Exit.usage, f"`{command}` is not available at this place")
    raise Stop(Exit.usage, lack.message, lack.hint and lack.hint.format(job=job))
