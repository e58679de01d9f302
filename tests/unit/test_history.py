"""The history of a job: what is kept of it, and how its runs are counted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.runs.history import (
    LARGEST,
    History,
    Provenance,
    RunRecord,
    State,
    as_data,
    decode,
    encode,
)

WORDS = st.text(max_size=12)
MAYBE = st.none() | WORDS
UIDS = st.none() | st.text("0123456789abcdef-", min_size=1, max_size=36)
RUNS = st.builds(
    RunRecord,
    st.just(0),
    st.sampled_from(State),
    st.builds(Provenance, WORDS, MAYBE, st.booleans(), MAYBE),
    MAYBE,
    MAYBE,
    UIDS,
    MAYBE,
    MAYBE,
    st.none() | st.text(min_size=1, max_size=200),
)
HISTORIES = st.builds(
    lambda first, runs: History(
        tuple(each._replace(number=first + i) for i, each in enumerate(runs))
    ),
    st.integers(1, 100),
    st.lists(RUNS, max_size=6),
)
NEW = RunRecord(0, State.intended, Provenance("somebody"), spec="spec: {}\n")


def size(texts: dict[str, str]) -> int:
    return sum(len(key) + len(value.encode()) for key, value in texts.items())


@given(HISTORIES)
def test_what_was_written_is_read(history: History) -> None:
    assert decode(encode(history)) == history


@given(HISTORIES, st.integers(0, 2000))
def test_what_is_too_large_loses_the_oldest_specs_first_and_then_the_oldest_runs(
    history: History, largest: int
) -> None:
    texts = encode(history, largest)
    kept = decode(texts).runs
    assert size(texts) <= largest or len(kept) <= 1
    assert [each._replace(spec=None) for each in kept] == [
        each._replace(spec=None) for each in history.runs[len(history.runs) - len(kept) :]
    ]
    missing = [
        mine.number
        for mine, theirs in zip(kept, history.runs[len(history.runs) - len(kept) :], strict=True)
        if mine.spec != theirs.spec
    ]
    with_specs = [each.number for each in history.runs if each.spec]
    lost = len(history.runs) - len(kept)
    if lost:
        assert not any(each.spec for each in kept)
    else:
        assert missing == with_specs[: len(missing)]


@given(HISTORIES, st.integers(0, 2000))
def test_what_fits_stays_as_it_is(history: History, largest: int) -> None:
    texts = encode(history, LARGEST)
    if size(texts) <= largest:
        assert encode(history, largest) == texts


def test_one_large_spec_costs_no_runs() -> None:
    history = History()
    for number in range(1, 4):
        history = history.intend(NEW).begin(f"uid-{number}", "now")
    history = history.intend(NEW._replace(spec="x" * LARGEST))
    kept = decode(encode(history))
    assert [each.number for each in kept.runs] == [1, 2, 3, 4]
    assert kept.runs[-1].spec is None


@given(HISTORIES, st.lists(st.sampled_from(["intend", "begin", "end", "adopt", "drop", "keep"])))
def test_numbers_grow_by_one_and_are_never_given_twice(history: History, steps: list[str]) -> None:
    given_to: dict[int, str | None] = {each.number: each.uid for each in history.runs if each.uid}
    for count, step in enumerate(steps):
        uid = f"run-{count}"
        match step:
            case "intend":
                history = history.intend(NEW)
            case "begin":
                history = history.begin(uid, "now")
            case "end":
                last = history.ran
                history = history.end(str(last and last.uid), State.failed, "now")
            case "adopt":
                history = history.adopt(NEW._replace(uid=uid))
            case "drop":
                history = history.drop_intent()
            case _:
                history = decode(encode(history, 600))
        numbers = [each.number for each in history.runs]
        assert numbers == sorted(set(numbers))
        for each in history.runs:
            if each.uid:
                assert given_to.setdefault(each.number, each.uid) == each.uid


def test_an_intent_that_came_to_nothing_gives_its_number() -> None:
    history = History().intend(NEW).begin("a", "t1").intend(NEW).intend(NEW)
    assert [(each.number, each.uid) for each in history.runs] == [(1, "a"), (2, None)]
    assert history.begin("b", "t2").runs[1].state is State.running
    assert [each.number for each in history.drop_intent().runs] == [1]


def test_the_end_of_a_run_is_written_once() -> None:
    history = History().intend(NEW).begin("a", "t1").end("a", State.killed, "t2")
    assert history.end("a", State.lost, "t3") == history
    assert history.end("other", State.lost, "t3") == history
    assert history.begin("b", "t3") == history
    [run] = history.runs
    assert (run.state, run.started, run.finished) == (State.killed, "t1", "t2")


@pytest.mark.parametrize(
    "text",
    ["", "no", "5", "{}[", '{"a": 1}', "[1]", "[{}]", '[{"run": 1, "state": "odd", "who": ""}]'],
)
def test_what_is_no_history_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode({"runs.json": text})


def test_fields_of_a_later_version_are_let_be() -> None:
    [run] = decode({"runs.json": '[{"run": 7, "state": "failed", "who": "a", "new": {}}]'}).runs
    assert (run.number, run.state, run.provenance) == (7, State.failed, Provenance("a"))


def test_no_encoding_takes_every_name() -> None:
    history = History().intend(NEW._replace(provenance=Provenance("b\udcff")))
    assert decode(encode(history)).runs[0].provenance.who == "b?"


def test_what_is_not_known_is_shown_as_null_and_takes_no_room() -> None:
    run = RunRecord(1, State.intended, Provenance("a"))
    known = {"run": 1, "state": "intended", "who": "a", "dirty": False}
    shown = as_data(run)
    assert {key: value for key, value in shown.items() if value is not None} == known
    assert shown["commit"] is None
    assert json.loads(encode(History((run,)))["runs.json"]) == [known]
