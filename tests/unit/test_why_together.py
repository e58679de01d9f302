"""Replicas that wait for each other, and what their logs show."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import Recorded, evidence, pod, workload

from paddlespec.backends.cluster.why.together import (
    never_started,
    still_waiting,
    waits_for_pservers,
)
from paddlespec.runs.failure_text import meaning, speak_of_others


def trainer(rank: int, phase: str = "Running") -> dict[str, Any]:
    running = pod(f"phase: {phase}", metadata__name=f"fit-trainer-{rank}-x")
    running["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] = str(rank)
    return running


FOUR = workload(completions=4)


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        (
            [trainer(0), trainer(1), trainer(2), trainer(3, "Pending")],
            "trainer 3 of 4 has not started; the others are waiting",
        ),
        (
            [trainer(0), trainer(2)],
            "trainer 1 of 4 and 1 more have not started; the others are waiting",
        ),
    ],
    ids=["pending", "no-pod"],
)
def test_some_trainers_run_and_some_do_not(pods: list[dict[str, Any]], expected: str) -> None:
    assert never_started(evidence(*pods, job=FOUR)) == (expected, ())


@pytest.mark.parametrize(
    ("pods", "mode"),
    [
        ([trainer(rank) for rank in range(4)], "collective"),
        ([trainer(rank, "Pending") for rank in range(4)], "collective"),
        ([trainer(0), trainer(1, "Succeeded"), trainer(2), trainer(3, "Failed")], "collective"),
        ([trainer(0)], "parallel"),
    ],
    ids=["all", "none", "ended", "independent"],
)
def test_no_trainer_is_missing(pods: list[dict[str, Any]], mode: str) -> None:
    assert never_started(evidence(*pods, job=FOUR, mode=mode)) is None


LAUNCHER = """\
LAUNCH INFO 2026-01-31 11:00:00,000 -----------  Configuration  ----------------------
LAUNCH INFO 2026-01-31 11:00:00,001 Job: default, mode collective, replicas 2[2:2], elastic False
LAUNCH INFO 2026-01-31 11:00:00,002 Waiting peer start...
"""


def test_the_first_trainer_logs_that_it_waits() -> None:
    ask = Recorded(logs=LAUNCHER)
    reason = still_waiting(evidence(trainer(1), trainer(0), ask=ask))
    assert reason == (
        "all 2 trainers are running, but not all have joined the rendezvous",
        ("Pod/fit-trainer-0-x last wrote: Waiting peer start...",),
    )
    assert ask.asked == ["log of fit-trainer-0-x paddle"]


@pytest.mark.parametrize(
    "logs",
    [
        f"{LAUNCHER}LAUNCH INFO Run Pod: canary\n",
        "epoch 1, loss 0.3\n",
        "what(): gloo::TimeoutException\n",
        "",
    ],
)
def test_a_trainer_that_went_on_does_not_wait(logs: str) -> None:
    assert still_waiting(evidence(trainer(0), trainer(1), ask=Recorded(logs=logs))) is None


@pytest.mark.parametrize(
    ("pods", "mode", "count"),
    [
        ([trainer(0), trainer(1, "Pending")], "collective", 2),
        ([trainer(0), trainer(1)], "ps", 2),
        ([trainer(0)], "collective", 1),
    ],
    ids=["not-all", "no-rendezvous", "alone"],
)
def test_logs_are_read_only_for_a_rendezvous(
    pods: list[dict[str, Any]], mode: str, count: int
) -> None:
    ask = Recorded(logs=LAUNCHER)
    asked = evidence(*pods, ask=ask, mode=mode, job=workload(completions=count))
    assert still_waiting(asked) is None
    assert not ask.asked


@pytest.mark.parametrize(("state", "waits"), [("running", True), ("terminated", False)])
def test_trainers_wait_for_their_pservers(state: str, waits: bool) -> None:
    waiting_pod = pod(
        f"initContainerStatuses: [{{name: wait-for-pservers, state: {{{state}: {{}}}}}}]"
    )
    assert (waits_for_pservers(evidence(waiting_pod, mode="ps")) is not None) is waits


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("LAUNCH WARNING master not ready", "the rendezvous master does not answer"),
        (
            "terminate called after throwing an instance of 'gloo::TimeoutException'",
            "another replica did not answer in time",
        ),
        (
            "[gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:36001",
            "another replica is gone",
        ),
        ("Fail to wait EPOLLOUT [E112]Not connected", "a pserver cannot be reached"),
        ("TCPStore wait key timed out", "the rendezvous store could not be reached"),
    ],
)
def test_a_known_last_line(line: str, words: str) -> None:
    message = meaning(["canary", line, ""])
    assert message is not None
    assert message.text == words
    assert message.quote in line


def test_unknown_last_lines_have_no_meaning() -> None:
    assert meaning(["ValueError: bad shape", "loss nan"]) is None
    assert meaning(["requests: https://metrics.test: Connection refused"]) is None


def test_a_victim_complains_about_others() -> None:
    assert speak_of_others(b"...\n[gloo/transport/tcp/pair.cc] Connection closed by peer")
    assert not speak_of_others(b"ZeroDivisionError: division by zero")
