"""What becomes of a job that is applied, for everything that may be there."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from paddlespec.backend import Consent, OperationFailed
from paddlespec.history import History, Provenance, RunRecord, State
from paddlespec.lifecycle import Found, Step, decide, said

NEW = RunRecord(0, State.intended, Provenance("somebody"))
POLICIES = ("refuse", "replace-finished", "replace-running")
AGREED: dict[str, dict[str, Any]] = {"": {}, "replace": {"replace": True}, "rerun": {"rerun": True}}
OVER = (State.succeeded, State.failed, State.replaced, State.lost)


def history(state: State | None) -> History:
    """One run that ended so, or none at all."""
    if state is None:
        return History()
    begun = History().intend(NEW).begin("a", "t1")
    return begun if state is State.running else begun.end("a", state, "t2")


def step(
    found: Found,
    state: State | None,
    changed: bool,
    policy: str = "replace-finished",
    agreed: str = "",
    intended: bool = False,
) -> Step | None:
    """The decision; nothing where it is refused."""
    consent = Consent(policy, **AGREED[agreed])
    try:
        return decide(
            "fit", history(state), found, consent, changed=changed, intended=intended
        ).step
    except OperationFailed:
        return None


# found, how the last run ended, changed, policy, agreed: what happens
TABLE = [
    (Found.absent, None, False, "replace-finished", "", Step.create),
    (Found.absent, None, False, "refuse", "", Step.create),
    (Found.absent, State.succeeded, False, "replace-finished", "", Step.nothing),
    (Found.absent, State.killed, False, "replace-running", "", Step.nothing),
    (Found.absent, State.killed, False, "refuse", "rerun", Step.create),
    (Found.absent, State.lost, True, "replace-finished", "", Step.create),
    (Found.absent, State.failed, True, "refuse", "", None),
    (Found.absent, State.failed, True, "refuse", "replace", Step.create),
    (Found.held, State.running, False, "refuse", "", Step.keep),
    (Found.held, State.running, True, "refuse", "", Step.replace),
    (Found.held, State.killed, False, "replace-running", "", Step.nothing),
    (Found.running, State.running, False, "replace-running", "", Step.keep),
    (Found.running, State.running, False, "replace-running", "rerun", Step.keep),
    (Found.running, State.running, True, "replace-finished", "", None),
    (Found.running, State.running, True, "replace-finished", "rerun", None),
    (Found.running, State.running, True, "replace-finished", "replace", Step.replace),
    (Found.running, State.running, True, "replace-running", "", Step.replace),
    (Found.running, State.killed, True, "replace-running", "replace", Step.nothing),
    (Found.running, State.killed, False, "refuse", "rerun", Step.replace),
    (Found.over, State.succeeded, False, "replace-running", "", Step.nothing),
    (Found.over, State.succeeded, False, "refuse", "rerun", Step.replace),
    (Found.over, State.failed, True, "replace-finished", "", Step.replace),
    (Found.over, State.failed, True, "refuse", "", None),
    (Found.over, State.failed, True, "refuse", "replace", Step.replace),
]


@pytest.mark.parametrize(("found", "state", "changed", "policy", "agreed", "expected"), TABLE)
def test_the_table(
    found: Found,
    state: State | None,
    changed: bool,
    policy: str,
    agreed: str,
    expected: Step | None,
) -> None:
    assert step(found, state, changed, policy, agreed) is expected


ALL = list(product([False, True], POLICIES, AGREED, [False, True]))


@pytest.mark.parametrize(("changed", "policy", "agreed", "intended"), ALL)
def test_what_runs_ends_only_where_somebody_agreed(
    changed: bool, policy: str, agreed: str, intended: bool
) -> None:
    decided = step(Found.running, State.running, changed, policy, agreed, intended)
    if decided is Step.replace:
        assert changed
        assert agreed == "replace" or policy == "replace-running"
    else:
        assert decided in (Step.keep, None)


@pytest.mark.parametrize(("changed", "policy", "agreed", "intended"), ALL)
@pytest.mark.parametrize("found", [Found.absent, Found.over])
@pytest.mark.parametrize("state", [*OVER, State.killed])
def test_what_ran_begins_again_only_where_somebody_agreed(
    state: State, found: Found, changed: bool, policy: str, agreed: str, intended: bool
) -> None:
    if step(found, state, changed, policy, agreed, intended) in (Step.create, Step.replace):
        assert changed or agreed == "rerun" or intended


@pytest.mark.parametrize(("changed", "policy", "agreed", "intended"), ALL)
@pytest.mark.parametrize("found", [Found.held, Found.running, Found.over])
def test_what_was_killed_goes_on_only_as_another_run(
    found: Found, changed: bool, policy: str, agreed: str, intended: bool
) -> None:
    expected = Step.replace if agreed == "rerun" else Step.nothing
    assert step(found, State.killed, changed, policy, agreed, intended) is expected


@pytest.mark.parametrize("found", [Found.absent, Found.over])
def test_what_was_agreed_to_goes_on_with_a_plain_apply(found: Found) -> None:
    expected = Step.create if found is Found.absent else Step.replace
    assert step(found, State.succeeded, True, "refuse", "", intended=True) is expected
    assert step(found, State.succeeded, False, "refuse", "", intended=True) is expected


def test_a_refusal_says_what_is_there_and_what_would_allow_it() -> None:
    told = "Job/fit-trainer, which is running"
    with pytest.raises(OperationFailed) as caught:
        decide("fit", history(State.running), Found.running, Consent(), changed=True, told=told)
    assert caught.value.message.startswith(told)
    assert "whenChanged is replace-finished" in caught.value.message
    assert caught.value.hint is not None
    assert "--replace" in caught.value.hint


@pytest.mark.parametrize("state", State)
def test_every_end_has_words(state: State) -> None:
    assert said(state)
