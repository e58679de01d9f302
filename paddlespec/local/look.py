"""How far a run on this machine is, in the words that a cluster's runs have too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import JobFailed, OperationFailed, Progress, Until
from paddlespec.local.state import Phase, Step
from paddlespec.local.verdict import size

if TYPE_CHECKING:
    from paddlespec.local.state import Replica, Status


def progress(status: Status, until: Until) -> Progress:
    """How far *status* is; raises as soon as it cannot get there."""
    if status.phase is Phase.succeeded:
        stopped = any(each.role == "pservers" for each in status.replicas)
        parts = ["complete", *(["pservers stopped"] if stopped else []), *_losses(status)]
        return Progress(True, True, ", ".join(parts))
    if status.phase is Phase.failed:
        raise JobFailed(failure(status))
    if status.phase.is_over:
        told = f"{status.job} was {status.phase.value}"
        if status.message and status.message != status.phase.value:
            told += f": {status.message}"
        raise OperationFailed(told, "to run it again: paddlespec apply --rerun")
    words = [_role(status, role) for role in dict.fromkeys(each.role for each in status.replicas)]
    if status.attempt > 1:
        words.append(f"attempt {status.attempt} of {status.attempts}")
    if status.phase is Phase.stopping:
        words.append("stopping")
    ready = all(each.ready or each.step is Step.ended for each in status.replicas)
    return Progress(ready and until is Until.ready, True, ", ".join(words))


def failure(status: Status) -> str:
    """Why a run failed: the replica to blame, how it ended, and what it wrote last."""
    tries = f" in attempt {status.attempt} of {status.attempts}" if status.attempts > 1 else ""
    lines = [f"failed{tries}: {status.message or 'no reason given'}"]
    if status.culprit is not None:
        lines.append(f"  {status.culprit.name}: {status.culprit.ending}")
        lines += [f"  | {each}" for each in status.culprit.lines]
    lines += [f"  {each}" for each in _losses(status)]
    return "\n".join(lines)


def _losses(status: Status) -> list[str]:
    lost = sum(status.lost.values())
    return [f"{size(lost)} of output lost: the logs could not be written"] if lost else []


def _role(status: Status, role: str) -> str:
    own = [each for each in status.replicas if each.role == role]
    running = sum(each.step is Step.running and each.ready for each in own)
    ended = sum(each.step is Step.ended for each in own)
    over = f", {ended} ended" if ended else ""
    others = any(each.role == "pservers" for each in status.replicas)
    hindered = _hindered(own) if others and role != "pservers" else ""
    return f"{role} {running}/{len(own)} running{over}{hindered}"


def _hindered(own: list[Replica]) -> str:
    waiting = sum(each.step is Step.waiting for each in own)
    return f" ({waiting} waiting for pservers)" if waiting else ""
