"""The progress of a run on this machine, worded as on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.local.store.run_state import STOPPED, Phase, Step
from paddlespec.quantity import as_size
from paddlespec.runs.failures import JobFailed, OperationFailed
from paddlespec.runs.values import Progress, Until

if TYPE_CHECKING:
    from paddlespec.backends.local.store.run_state import Replica, Status


def progress(status: Status, until: Until) -> Progress:
    """Return the progress of a run towards *until*; raise once it cannot get there."""
    if status.phase is Phase.succeeded:
        others = (replica for replica in status.replicas if replica.role != "trainers")
        stopped = ", ".join(dict.fromkeys(one.role for one in others if one.why == STOPPED))
        parts = ["complete", *([f"{stopped} stopped"] if stopped else []), *_losses(status)]
        return Progress(True, True, ", ".join(parts))
    if status.phase is Phase.failed:
        raise failure(status)
    if status.phase.is_over:
        message = f"{status.job} was {status.phase.value}"
        if status.message and status.message != status.phase.value:
            message += f": {status.message}"
        raise OperationFailed(message, "run it again: paddlespec apply --rerun")
    parts = [
        _role(status, role) for role in dict.fromkeys(replica.role for replica in status.replicas)
    ]
    if status.attempt > 1:
        parts.append(f"attempt {status.attempt} of {status.attempts}")
    if status.phase is Phase.stopping:
        parts.append("stopping")
    ready = all(replica.ready or replica.step is Step.ended for replica in status.replicas)
    return Progress(ready and until is Until.ready, True, ", ".join(parts))


def failure(status: Status) -> JobFailed:
    """Describe why a run failed: the culprit, how it ended, and its last lines."""
    tries = f" in attempt {status.attempt} of {status.attempts}" if status.attempts > 1 else ""
    lines = []
    if status.culprit is not None:
        lines.append(f"  {status.culprit.name}: {status.culprit.ending}")
        lines += [f"  | {line}" for line in status.culprit.lines]
    lines += [f"  {line}" for line in _losses(status)]
    return JobFailed(f"failed{tries}: {status.message or 'no reason given'}", evidence=lines)


def _losses(status: Status) -> list[str]:
    lost = sum(status.lost.values())
    return [f"{as_size(lost)} of output lost: the logs could not be written"] if lost else []


def _role(status: Status, role: str) -> str:
    own = [replica for replica in status.replicas if replica.role == role]
    running = sum(replica.step is Step.running and replica.ready for replica in own)
    ended = sum(replica.step is Step.ended for replica in own)
    over = f", {ended} ended" if ended else ""
    others = any(replica.role == "pservers" for replica in status.replicas)
    hindered = _hindered(own) if others and role != "pservers" else ""
    return f"{role} {running}/{len(own)} running{over}{hindered}"


def _hindered(own: list[Replica]) -> str:
    waiting = sum(replica.step is Step.waiting for replica in own)
    return f" ({waiting} waiting for pservers)" if waiting else ""
