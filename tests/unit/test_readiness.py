"""How far an object is, read from what an API server stores."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from paddlespec.cluster import readiness


def live(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text)
    return {"metadata": {}, "spec": {}, "status": {}, **found}


def held(*conditions: str) -> str:
    """Conditions as `Type`, `Type=False` or `Type/Reason`."""
    listed = []
    for each in conditions:
        name, _, reason = each.partition("/")
        kind, _, value = name.partition("=")
        listed.append({"type": kind, "status": value or "True", "reason": reason})
    return repr(listed)


JOBS = {
    "complete": (held("SuccessCriteriaMet", "Complete"), (True, True, "complete")),
    "failed": (
        held("FailureTarget/BackoffLimitExceeded", "Failed/BackoffLimitExceeded"),
        (True, False, "failed: a replica failed"),
    ),
    "failing": (
        held("FailureTarget/BackoffLimitExceeded"),
        (False, False, "failing: a replica failed"),
    ),
    "too-late": (
        held("Failed/DeadlineExceeded"),
        (True, False, "failed: its timeout has passed"),
    ),
    "unknown-reason": (held("Failed/Quux"), (True, False, "failed: Quux")),
    "finishing": (held("SuccessCriteriaMet/CompletionsReached"), (False, True, "finishing")),
    "not-failed": (held("Failed=False"), (False, True, "no pods yet")),
    "fresh": ("[]", (False, True, "no pods yet")),
}


@pytest.mark.parametrize("case", JOBS)
def test_a_job_by_its_conditions(case: str) -> None:
    conditions, expected = JOBS[case]
    assert readiness.job(live(f"status: {{conditions: {conditions}}}")) == expected


def test_a_job_counts_its_pods() -> None:
    counted = live("status: {active: 2, succeeded: 1, failed: 0}")
    assert readiness.job(counted).message == "2 active, 1 succeeded"


@pytest.mark.parametrize(
    ("labels", "word"), [("{}", "suspended"), ("{kueue.x-k8s.io/queue-name: q}", "queued")]
)
def test_a_job_that_is_held_back_is_no_failure(labels: str, word: str) -> None:
    found = live(f"{{metadata: {{labels: {labels}}}, spec: {{suspend: true}}}}")
    assert readiness.job(found) == (False, True, word)


def test_a_job_that_is_being_deleted_gets_nowhere() -> None:
    found = live("metadata: {deletionTimestamp: 2026-01-01T00:00:00Z}")
    assert readiness.job(found) == (False, False, "is being deleted")


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("status: {active: 1}", "is running"),
        ("spec: {suspend: true}", "is suspended"),
        (f"status: {{conditions: {held('Complete')}}}", "is complete"),
        (f"status: {{conditions: {held('Failed/Quux')}}}", "failed: Quux"),
    ],
)
def test_the_state_of_a_job_is_a_verb(text: str, state: str) -> None:
    assert readiness.state(live(text)) == state


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("{spec: {replicas: 2}, status: {readyReplicas: 2, replicas: 2}}", True),
        ("{spec: {replicas: 2}, status: {readyReplicas: 1, replicas: 2}}", False),
        ("{spec: {replicas: 1}, status: {readyReplicas: 2, replicas: 2}}", False),
        ("{spec: {replicas: 0}}", True),
        (
            (
                "{metadata: {generation: 2}, spec: {replicas: 1},"
                " status: {readyReplicas: 1, replicas: 1, observedGeneration: 1}}"
            ),
            False,
        ),
    ],
    ids=["ready", "starting", "shrinking", "none", "not-seen-yet"],
)
def test_a_stateful_set(text: str, done: bool) -> None:
    assert readiness.stateful_set(live(text)).done is done


def waiting(reason: str, message: str = "", listed: str = "containerStatuses") -> dict[str, Any]:
    status = {
        "name": "paddle",
        "image": "reg/paddle:1",
        "state": {"waiting": {"reason": reason, "message": message}},
    }
    return {"metadata": {}, "status": {"phase": "Pending", listed: [status]}}


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        ("ErrImagePull", "x", "cannot pull image reg/paddle:1 (ErrImagePull)"),
        ("ImagePullBackOff", "x", "cannot pull image reg/paddle:1 (ImagePullBackOff)"),
        (
            "CreateContainerConfigError",
            'secret "team-token" not found',
            'misses something that its variables or volumes name (secret "team-token" not found)',
        ),
        (
            "CreateContainerConfigError",
            "couldn't find key token in Secret ads/team-token",
            (
                "misses something that its variables or volumes name "
                "(couldn't find key token in Secret ads/team-token)"
            ),
        ),
        ("RunContainerError", "exec: hunter2", "does not start (RunContainerError)"),
    ],
)
@pytest.mark.parametrize("listed", ["containerStatuses", "initContainerStatuses"])
def test_a_pod_that_is_stuck_says_why(
    reason: str, message: str, expected: str, listed: str
) -> None:
    assert readiness.pod(waiting(reason, message, listed)) == (False, False, expected)


@pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing"])
def test_a_pod_that_starts_is_not_stuck(reason: str) -> None:
    assert readiness.pod(waiting(reason)) == (False, True, "starting")


def test_a_pod_that_fits_nowhere_says_why_in_one_line() -> None:
    text = "0/3 nodes are available:\n3 Insufficient cpu"
    pending = live(
        f"status: {{phase: Pending, conditions: {held('PodScheduled=False/Unschedulable')}}}"
    )
    pending["status"]["conditions"][0]["message"] = text
    expected = "fits on no node: 0/3 nodes are available: 3 Insufficient cpu"
    assert readiness.pod(pending) == (False, False, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"status: {{phase: Running, conditions: {held('Ready')}}}", (True, True)),
        (f"status: {{phase: Running, conditions: {held('Ready=False')}}}", (False, True)),
        ("status: {phase: Succeeded}", (True, True)),
        ("status: {phase: Failed}", (True, False)),
        (
            (
                "{metadata: {deletionTimestamp: x}, status: {phase: Running, conditions: "
                f"{held('Ready')}}}}}"
            ),
            (False, True),
        ),
    ],
    ids=["ready", "probing", "ended", "failed", "ending"],
)
def test_a_pod_by_its_phase(text: str, expected: tuple[bool, bool]) -> None:
    assert readiness.pod(live(text))[:2] == expected


@pytest.mark.parametrize(
    ("phase", "first_consumer", "expected"),
    [
        ("Bound", False, (True, True)),
        ("Pending", False, (False, True)),
        ("Pending", True, (True, True)),
        ("Lost", False, (True, False)),
    ],
)
def test_a_claim(phase: str, first_consumer: bool, expected: tuple[bool, bool]) -> None:
    found = readiness.claim(live(f"status: {{phase: {phase}}}"), waits_for_consumer=first_consumer)
    assert found[:2] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", (False, True, "waits in its queue")),
        ("status: {phase: Pending}", (False, True, "waits in its queue")),
        (
            f"status: {{phase: Pending, conditions: {held('Unschedulable')}}}",
            (False, False, "not all of its pods fit at the same time"),
        ),
        ("status: {phase: Inqueue}", (False, True, "admitted, waits for room")),
        ("status: {phase: Running}", (True, True, "running")),
        ("status: {phase: Unknown}", (False, False, "only a part of its pods runs")),
    ],
    ids=["new", "pending", "no-room", "inqueue", "running", "torn"],
)
def test_a_gang(text: str, expected: tuple[bool, bool, str]) -> None:
    assert readiness.pod_group(live(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", (False, True, "no jobs yet")),
        ("spec: {suspend: true}", (False, True, "suspended")),
        (
            "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true}}",
            (False, True, "queued"),
        ),
        (
            "status: {restarts: 2, replicatedJobsStatus: [{name: trainers, ready: 1}]}",
            (False, True, "trainers 1 ready, 2 restarts"),
        ),
        (f"status: {{conditions: {held('Completed')}}}", (True, True, "complete")),
        (
            f"status: {{conditions: {held('Failed/FailedJobs')}}}",
            (True, False, "failed: a role failed"),
        ),
        (
            "metadata: {deletionTimestamp: 2026-01-01T00:00:00Z}",
            (False, False, "is being deleted"),
        ),
    ],
    ids=["new", "suspended", "queued", "running", "complete", "failed", "going"],
)
def test_a_job_set(text: str, expected: tuple[bool, bool, str]) -> None:
    assert readiness.job_set(live(text)) == expected
