"""What an apply does to a job, for everything that may be there."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.change.decide import decide, kept_note
from paddlespec.change.live import Leftovers, Member, Part, Presence
from paddlespec.change.steps import (
    Begin,
    Create,
    Decision,
    Delete,
    End,
    Keep,
    Record,
    Refuse,
    RefuseToPrune,
    Replace,
    Resume,
    Try,
    Update,
    WaitUntilGone,
)
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import History, Provenance, RunRecord, State
from paddlespec.runs.outcome import ending
from paddlespec.runs.values import Consent, Work

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest


def manifest(kind: str, name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}


CLAIM, OWNER = manifest("PersistentVolumeClaim", "out"), manifest("Job", "fit-trainer")
SERVICE, PSERVER = manifest("Service", "fit"), manifest("Job", "fit-pserver")
OLD = manifest("ConfigMap", "old")
WORK = Work("fit", [CLAIM, SERVICE, PSERVER, OWNER], "new")
NEW = RunRecord(0, State.intended, Provenance("somebody"), "new")
POLICIES = ("refuse", "replace-finished", "replace-running")
AGREED: dict[str, dict[str, Any]] = {"": {}, "replace": {"replace": True}, "rerun": {"rerun": True}}
OVER = (State.succeeded, State.failed, State.replaced, State.lost)
absent, held, running, finished = Presence


@dataclass
class Live:
    """What is there, all of it or nothing."""

    presence: Presence | None
    fingerprint: str | None = None
    is_stuck: bool = False
    leftovers: Leftovers = field(default_factory=Leftovers)
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    state: str = "Job/fit-trainer is there"
    uid: str = "a"

    def member(self, of: Manifest, part: Part) -> Member:
        there = None if self.presence in (None, absent) else of
        workload = of["kind"] == "Job"
        member = Member(
            of,
            part,
            there,
            starts_held=workload,
            held=workload and self.presence is held,
            runs_pods=workload,
        )
        return member._replace(**self.changes.get(of["metadata"]["name"], {}))

    @property
    def owner(self) -> Member:
        return self.member(OWNER, Part.owner)

    @property
    def members(self) -> list[Member]:
        owned = [self.member(one, Part.owned) for one in (SERVICE, PSERVER)]
        return [self.member(CLAIM, Part.claim), self.owner, *owned]


def history(state: State | None, changed: bool = False) -> History:
    """One run that ended so, or none at all."""
    if state is None:
        return History()
    begun = History().intend(NEW._replace(fingerprint="old" if changed else "new")).begin("a", "t1")
    return begun if state is State.running else begun.end("a", state, "t2")


def decided(
    presence: Presence | None,
    state: State | None,
    changed: bool = False,
    policy: str = "replace-finished",
    agreed: str = "",
    intended: bool = False,
    **more: Any,
) -> Decision:
    past = history(state, changed)
    if intended:
        past = past.intend(NEW)
    live = Live(presence, "old" if changed else "new", **more)
    return decide(past, live, WORK, Consent(policy, **AGREED[agreed]))


def verdict(decision: Decision) -> str:
    """What becomes of the run, in a word."""
    if decision.refusal is not None:
        assert not decision.steps
        return "refuse"
    goes_on = any(isinstance(step, Update) and step.manifest is SERVICE for step in decision.steps)
    return decision.begins or ("keep" if goes_on else "nothing")


# What is there, how the last run ended, changed, policy, agreed: what becomes of the run
TABLE = [
    (absent, None, False, "replace-finished", "", "create"),
    (absent, None, False, "refuse", "", "create"),
    (absent, State.succeeded, False, "replace-finished", "", "nothing"),
    (absent, State.killed, False, "replace-running", "", "nothing"),
    (absent, State.killed, False, "refuse", "rerun", "create"),
    (absent, State.lost, True, "replace-finished", "", "create"),
    (absent, State.failed, True, "refuse", "", "refuse"),
    (absent, State.failed, True, "refuse", "replace", "create"),
    (held, State.running, False, "refuse", "", "keep"),
    (held, State.running, True, "refuse", "", "replace"),
    (held, State.killed, False, "replace-running", "", "nothing"),
    (running, State.running, False, "replace-running", "", "keep"),
    (running, State.running, False, "replace-running", "rerun", "keep"),
    (running, State.running, True, "replace-finished", "", "refuse"),
    (running, State.running, True, "replace-finished", "rerun", "refuse"),
    (running, State.running, True, "replace-finished", "replace", "replace"),
    (running, State.running, True, "replace-running", "", "replace"),
    (running, State.killed, True, "replace-running", "replace", "nothing"),
    (running, State.killed, False, "refuse", "rerun", "replace"),
    (finished, State.succeeded, False, "replace-running", "", "nothing"),
    (finished, State.succeeded, False, "refuse", "rerun", "replace"),
    (finished, State.failed, True, "replace-finished", "", "replace"),
    (finished, State.failed, True, "refuse", "", "refuse"),
    (finished, State.failed, True, "refuse", "replace", "replace"),
]


@pytest.mark.parametrize(("presence", "state", "changed", "policy", "agreed", "expected"), TABLE)
def test_the_table(
    presence: Presence,
    state: State | None,
    changed: bool,
    policy: str,
    agreed: str,
    expected: str,
) -> None:
    assert verdict(decided(presence, state, changed, policy, agreed)) == expected


ALL = list(product([False, True], POLICIES, AGREED, [False, True]))


@pytest.mark.parametrize(("changed", "policy", "agreed", "intended"), ALL)
def test_a_running_job_is_stopped_only_with_consent(
    changed: bool, policy: str, agreed: str, intended: bool
) -> None:
    became = verdict(decided(running, State.running, changed, policy, agreed, intended))
    if became == "replace":
        assert changed
        assert agreed == "replace" or policy == "replace-running"
    else:
        assert became in ("keep", "refuse")


@pytest.mark.parametrize("presence", [absent, finished])
@pytest.mark.parametrize("state", [*OVER, State.killed])
def test_a_finished_job_runs_again_only_with_consent(state: State, presence: Presence) -> None:
    for changed, policy, agreed, intended in ALL:
        became = verdict(decided(presence, state, changed, policy, agreed, intended))
        if became in ("create", "replace"):
            assert changed or agreed == "rerun" or intended


@pytest.mark.parametrize("presence", [held, running, finished])
def test_a_killed_job_goes_on_only_as_another_run(presence: Presence) -> None:
    for changed, policy, agreed, intended in ALL:
        expected = "replace" if agreed == "rerun" else "nothing"
        decision = decided(presence, State.killed, changed, policy, agreed, intended)
        assert verdict(decision) == expected


@pytest.mark.parametrize("presence", [absent, finished])
def test_a_run_that_was_agreed_to_goes_on_with_a_plain_apply(presence: Presence) -> None:
    expected = "create" if presence is absent else "replace"
    for changed in (False, True):
        decision = decided(presence, State.succeeded, changed, "refuse", "", intended=True)
        assert verdict(decision) == expected


@pytest.mark.parametrize("presence", [None, *Presence])
@pytest.mark.parametrize("state", [None, *State])
def test_with_consent_nothing_is_refused(state: State | None, presence: Presence | None) -> None:
    """A diff shows what a refusal refuses: the steps with consent."""
    left = Leftovers([OLD], running="Job/old is running", finished="Job/old is complete")
    for changed, policy, agreed, intended in ALL:
        decision = decided(presence, state, changed, policy, agreed, intended, leftovers=left)
        if decision.refusal is None:
            assert decision.steps
            continue
        assert decision.refusal.hint is not None
        assert decision.refusal.hint.startswith("add --replace")
        agreeing = decided(presence, state, changed, policy, "replace", intended, leftovers=left)
        assert agreeing.error is None
        assert agreeing.steps


def test_the_order_of_a_new_run() -> None:
    """It is recorded before anything of it is there, and starts when everything is."""
    tried, record, wait, *steps = decided(absent, None).steps
    assert tried == Try([CLAIM, OWNER, SERVICE, PSERVER])
    assert isinstance(record, Record)
    assert record.intent is not None
    assert (record.intent.state, record.intent.fingerprint) == (State.intended, "new")
    assert wait == WaitUntilGone()
    assert steps == [
        *(Create(CLAIM), Create(OWNER), Begin(), Create(SERVICE), Create(PSERVER)),
        *(Resume(PSERVER), Resume(OWNER)),
    ]


def test_the_order_of_a_replacement() -> None:
    """The earlier run ends only when the new one would be accepted; claims stay."""
    tried, record, *steps = decided(finished, State.failed, True).steps
    assert tried == Try([OWNER, SERVICE, PSERVER])
    assert isinstance(record, Record)
    assert record.intent is not None
    assert steps == [
        *(End("a"), WaitUntilGone(), Update(CLAIM, CLAIM), Replace(OWNER, OWNER), Begin()),
        *(Replace(SERVICE, SERVICE), Replace(PSERVER, PSERVER)),
        *(Resume(PSERVER), Resume(OWNER)),
    ]


def test_the_steps_of_a_run_that_goes_on() -> None:
    updates = [Update(one, one, lenient=True) for one in (CLAIM, OWNER, SERVICE, PSERVER)]
    assert decided(running, State.running).steps == (Record(), *updates)
    resumed = (Resume(PSERVER), Resume(OWNER))
    assert decided(held, State.running).steps == (Record(), *updates, *resumed)
    going = {"live": None, "ends": True}
    missing = {"fit": going, "out": going, "fit-pserver": {"live": None}}
    assert decided(running, State.running, changes=missing).steps == (
        *(Record(), Keep(CLAIM), updates[1], WaitUntilGone(SERVICE), Create(SERVICE)),
        *(Create(PSERVER), Resume(PSERVER)),
    )
    new = decided(absent, None, changes=missing).steps
    assert new[2:5] == (WaitUntilGone(), WaitUntilGone(CLAIM), Create(CLAIM))


def test_of_a_finished_run_only_its_owner_changes() -> None:
    kept = [Keep(one) for one in (CLAIM, SERVICE, PSERVER)]
    owner = Update(OWNER, OWNER, lenient=True)
    assert decided(finished, State.succeeded).steps == (Record(), owner, *kept)
    assert decided(absent, State.succeeded).steps == (Record(),)


def test_an_unknown_fingerprint_asks_what_is_there() -> None:
    for stuck, expected in ((False, "keep"), (True, "refuse")):
        live = Live(running, None, is_stuck=stuck)
        assert verdict(decide(history(State.running), live, WORK, Consent())) == expected


def test_one_object_can_stop_everything() -> None:
    error = OperationFailed("Service/fit belongs to somebody else")
    changes: dict[str, dict[str, Any]] = {"fit": {"refused": error, "live": None}}
    for presence, state in ((absent, None), (running, State.running)):
        decision = decided(presence, state, changes=changes)
        assert Refuse(SERVICE, error) in decision.steps
        assert decision.error is error
    broken = {"fit-pserver": {"broken": error}}
    assert decided(running, State.running, changes=broken).error is error
    assert decided(finished, State.failed, True, changes=broken).error is None


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("left", ["running", "finished"])
def test_a_workload_that_is_no_longer_rendered_is_deleted_only_with_consent(
    left: str, policy: str
) -> None:
    leftovers = Leftovers([OLD])._replace(**{left: "Job/old is there"})  # type: ignore[arg-type]
    free = policy == "replace-running" or (left == "finished" and policy == "replace-finished")
    for agreed, expected in (("", free), ("replace", True)):
        decision = decided(running, State.running, False, policy, agreed, leftovers=leftovers)
        assert (decision.error is None) is expected
        assert (Delete(OLD) in decision.steps) is expected


def test_what_the_run_owns_goes_with_it() -> None:
    """In use or not, and whether anything else is deleted or not."""
    left = Leftovers([OLD], [CLAIM], [OLD, SERVICE])
    [*_, old, service, claim] = decided(finished, State.failed, True, leftovers=left).steps
    assert (old, service) == (Delete(OLD), Delete(SERVICE))
    assert isinstance(claim, Keep)
    past, live = history(State.failed, True), Live(finished, "old", leftovers=left)
    decision = decide(past, live, WORK, Consent(prune=False))
    assert [step for step in decision.steps if isinstance(step, Delete)] == [old, service]
    again = decided(running, State.running, leftovers=left)
    assert [step for step in again.steps if isinstance(step, Delete)] == [old]


def test_nothing_is_applied_where_leftovers_are_unknown() -> None:
    error = OperationFailed("you may not list jobs")
    decision = decided(running, State.running, leftovers=Leftovers(error=error))
    assert decision.error is error
    assert decision.steps[-1] == RefuseToPrune(error)


def test_a_job_without_runs_is_written_object_by_object() -> None:
    puts = [Create(one) for one in (CLAIM, OWNER, SERVICE, PSERVER)]
    assert decided(None, None).steps == (*puts, Record())


def test_a_refusal_says_what_is_there_and_what_would_allow_it() -> None:
    refusal = decided(running, State.running, True).refusal
    assert refusal is not None
    assert refusal.message == (
        "Job/fit-trainer is there and its spec has changed; `whenChanged: replace-finished` does "
        "not replace a running job"
    )
    assert refusal.hint == "add --replace to stop it and start a new run"
    strict = decided(finished, State.failed, True, "refuse").refusal
    assert strict is not None
    assert strict.message.endswith("needs a replacement, which `whenChanged: refuse` forbids")


def test_objects_that_are_kept_are_named_once() -> None:
    assert kept_note([]) == ()
    [one] = kept_note(["Job/a"])
    assert one.startswith("Job/a kept: this version renders it differently")
    [many] = kept_note([f"Job/{letter}" for letter in "abcde"])
    assert many.startswith("Job/a, Job/b, Job/c and 2 more kept: this version renders them")


@pytest.mark.parametrize("state", State)
def test_every_ending_has_words(state: State) -> None:
    assert ending(state)
