"""How far an object is, read from what an API server stores."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from paddlespec.backends.cluster.observe import readiness


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
            'its container cannot be created (secret "team-token" not found)',
        ),
        (
            "CreateContainerConfigError",
            "couldn't find key token in Secret ads/team-token",
            ("its container cannot be created (couldn't find key token in Secret ads/team-token)"),
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
        ("{}", (False, True, "waiting in its queue")),
        ("status: {phase: Pending}", (False, True, "waiting in its queue")),
        (
            f"status: {{phase: Pending, conditions: {held('Unschedulable')}}}",
            (False, False, "its pods do not all fit at the same time"),
        ),
        ("status: {phase: Inqueue}", (False, True, "admitted, waiting for resources")),
        ("status: {phase: Running}", (True, True, "running")),
        ("status: {phase: Unknown}", (False, False, "only some of its pods are running")),
    ],
    ids=["new", "pending", "no-room", "inqueue", "running", "torn"],
)
def test_a_gang(text: str, expected: tuple[bool, bool, str]) -> None:
    assert readiness.pod_group(live(text)) == expected
