"""Choosing one replica of a job that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import role_of

if TYPE_CHECKING:
    from paddlespec.backends.protocols import Engine
    from paddlespec.runs.state import Worker


def running(engine: Engine, name: str, role: str | None, index: int | None) -> Worker:
    """The first running replica of those that the options choose; trainers by default."""
    from paddlespec.render.roles import singular
    from paddlespec.runs.state import WorkerState

    plural = role_of(role, "trainers")
    status = engine.glance(name)
    chosen = [
        worker
        for worker in status.workers
        if worker.role == plural and index in (None, worker.rank)
    ]
    for worker in chosen:
        if worker.state is WorkerState.running:
            return worker
    present = dict.fromkeys(worker.role for worker in status.workers)
    if present and plural not in present:
        hint = f"it has the roles {', '.join(present)}"
        raise Stop(Exit.refused, f"{name} has no {plural}", hint)
    asked = " ".join([singular(str(plural)), *([] if index is None else [str(index)])])
    if chosen:
        state = f"{chosen[0].name} is {chosen[0].state.value}"
    else:
        state = f"{name} is {status.job.stage.value}"
    raise Stop(
        Exit.refused, f"no {asked} of {name} is running: {state}", f"paddlespec get workers {name}"
    )


def replica_of(engine: Engine, name: str, role: str | None, index: int | None) -> str:
    """The name of a running replica, or of the container of a shell that was kept."""
    from paddlespec.runs.failures import NotFound

    try:
        return running(engine, name, role, index).name
    except NotFound:
        scratch = engine.capabilities.scratch
        shell = scratch.find(name) if scratch is not None else None
        replica = shell.look().replica if shell is not None else None
        if replica is None:
            raise
        return replica
