"""
What becomes of a job that is applied: a pure decision over its history and what is there.

It is the same wherever jobs run. Nothing that runs ends, and nothing that ran begins again, unless
the spec's policy or the person who applies agrees to it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.history import State

if TYPE_CHECKING:
    from paddlespec.backend import Consent
    from paddlespec.history import History, RunRecord


class Found(Enum):
    """What there is of a run at the moment."""

    absent = "absent"
    held = "held"  # made, and never let go
    running = "running"
    over = "over"


class Step(Enum):
    """What an apply does next."""

    create = "create"
    keep = "keep"
    replace = "replace"
    nothing = "nothing"


class Decision(NamedTuple):
    """What an apply does next, and why where that is not plain."""

    step: Step
    why: str | None = None


_AGAIN = "to run it again: paddlespec apply --rerun"
_ENDED = {
    State.succeeded: "succeeded",
    State.failed: "failed",
    State.killed: "was killed",
    State.replaced: "was ended for another one, which never came",
    State.lost: "is gone, and how it ended was not seen",
    State.running: "is gone, and how it ended was not seen",
    State.intended: "never ran",
}


def decide(
    name: str,
    history: History,
    found: Found,
    consent: Consent,
    *,
    changed: bool,
    intended: bool = False,
    told: str | None = None,
) -> Decision:
    """
    What to do about the job *name*; raises `OperationFailed` where nobody agreed to what it takes.

    *changed*: the spec says other things of the pods than the latest run's did. *intended*: a
    run after the last one was agreed to with this very spec, and came to nothing.
    *told*: what is there, as in "Job/x, which is running".
    """
    last = history.ran
    if found is Found.absent:
        return _absent(name, last, consent, changed=changed, intended=intended)
    if last is not None and last.state is State.killed:
        # A kill that died on its way: what is there of the run is not to go on.
        if consent.rerun:
            return Decision(Step.replace)
        told = f"nothing to do: run {last.number} of {name} is being killed"
        return Decision(Step.nothing, f"{told}; to end what is left: paddlespec kill {name}")
    if found is Found.held:
        # It never ran, so that nothing is lost.
        return Decision(Step.replace if changed else Step.keep)
    over = found is Found.over
    if over and (consent.rerun or intended):
        return Decision(Step.replace)
    if not changed:
        if over:
            return Decision(Step.nothing, f"nothing to do: {told or name}; {_AGAIN}")
        told = f"{told or name}: --rerun is for what is over"
        return Decision(Step.keep, told if consent.rerun else None)
    if consent.replace or consent.policy == "replace-running":
        return Decision(Step.replace)
    if over and consent.policy == "replace-finished":
        return Decision(Step.replace)
    raise _refusal(told or name, consent)


def said(state: State | None) -> str:
    """How a run ended, as a clause."""
    return _ENDED[state or State.lost]


def _absent(
    name: str, last: RunRecord | None, consent: Consent, *, changed: bool, intended: bool
) -> Decision:
    if last is None or consent.rerun or intended:
        return Decision(Step.create)
    told = f"run {last.number} of {name}, which {said(last.state)}"
    if not changed:
        return Decision(Step.nothing, f"nothing to do: {told}; {_AGAIN}")
    if consent.policy == "refuse" and not consent.replace:
        raise _refusal(told, consent)
    return Decision(Step.create)


def _refusal(told: str, consent: Consent) -> OperationFailed:
    return OperationFailed(
        f"{told}: its spec has changed, so that it has to be replaced, and whenChanged is "
        f"{consent.policy}",
        "to replace it: paddlespec apply --replace",
    )
