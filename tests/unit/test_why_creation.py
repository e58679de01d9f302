"""Why pods cannot be created, from the events of a Job."""

from __future__ import annotations

import pytest
from recorded import Recorded, event, evidence, pod

from paddlespec.backends.cluster.why.creation import refusal_reason, refused

FORBIDDEN = 'Error creating: pods "fit-trainer-1-x7k2p" is forbidden: '
QUOTA = f"{FORBIDDEN}exceeded quota: small, requested: cpu=2, used: cpu=7, limited: cpu=8"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "exceeded quota: small, requested: cpu=2, used: cpu=7, limited: cpu=8",
            "needs 2 cpu, 1 of 8 left (quota small)",
        ),
        (
            (
                "exceeded quota: small, requested: limits.memory=4Gi,requests.cpu=500m, "
                "used: limits.memory=6Gi,requests.cpu=1, limited: limits.memory=8Gi,requests.cpu=1"
            ),
            (
                "needs 4Gi memory (limits), 2Gi of 8Gi left; "
                "needs 0.5 cpu, 0 of 1 left (quota small)"
            ),
        ),
        (
            (
                "exceeded quota: gpus, requested: requests.nvidia.com/gpu=8,pods=1, "
                "used: requests.nvidia.com/gpu=16,pods=3, limited: requests.nvidia.com/gpu=16,pods=9"
            ),
            "needs 8 nvidia.com/gpu, 0 of 16 left (quota gpus)",
        ),
        (
            "exceeded quota: no, requested: pods=1, used: pods=0, limited: pods=0",
            "needs 1 pod, 0 of 0 left (quota no)",
        ),
        (
            "exceeded quota: shrunk, requested: cpu=1, used: cpu=9, limited: cpu=8",
            "needs 1 cpu, 0 of 8 left (quota shrunk)",
        ),
        ("exceeded quota: small", "exceeds quota small"),
        ("exceeded quota: small, requested: cpu=lots", "exceeds quota small"),
        (
            "failed quota: small: must specify limits.cpu,limits.memory for: paddle",
            "quota small requires limits.cpu, limits.memory to be set",
        ),
    ],
    ids=["cpu", "two", "gpu", "pods", "shrunk", "no-amounts", "no-number", "unsaid"],
)
def test_a_quota_is_reported_with_its_amounts(text: str, expected: str) -> None:
    assert refusal_reason(FORBIDDEN + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "maximum cpu usage per Container is 1, but limit is 2",
            "a container may have at most 1 cpu, but its limit is 2 (limit range)",
        ),
        (
            "[minimum memory usage per Pod is 1Gi, but request is 512Mi, x]",
            "a pod must have at least 1Gi memory, but its request is 512Mi (limit range)",
        ),
        (
            "maximum cpu usage per Container is 1.  No limit is specified",
            "a container may have at most 1 cpu, but sets no limit (limit range)",
        ),
        (
            "cpu max limit to request ratio per Container is 2, but provided ratio is 4.500000",
            (
                "the cpu limit of a container may be at most 2 times its request, "
                "but is 4.5 times (limit range)"
            ),
        ),
        (
            (
                "cpu max limit to request ratio per Container is 2, "
                "but no request is specified or request is 0"
            ),
            "the cpu limit of a container may be at most 2 times its request (limit range)",
        ),
    ],
    ids=["maximum", "minimum", "no-limit", "ratio", "no-ratio"],
)
def test_a_limit_range_is_reported_with_its_amounts(text: str, expected: str) -> None:
    assert refusal_reason(FORBIDDEN + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no PriorityClass with name high was found", "priority class high does not exist"),
        (
            'violates PodSecurity "restricted:latest": canary',
            'violates Pod Security level "restricted:latest" of the namespace',
        ),
        (
            'admission webhook "policy.test" denied the request: canary',
            'denied by admission webhook "policy.test"',
        ),
        (
            'error looking up service account ads/default: serviceaccount "default" not found',
            "service account default does not exist",
        ),
        ("spec.containers[0].env[3].value: Invalid value: canary", None),
        ("", None),
    ],
)
def test_other_refusals_are_reported_by_name(text: str, expected: str | None) -> None:
    assert refusal_reason(text) == expected


def test_the_last_refusal_is_the_reason() -> None:
    older = event("job-uid", "FailedCreate", "no PriorityClass with name high was found")
    ask = Recorded(older + event("job-uid", "FailedCreate", QUOTA))
    reason = refused(evidence(pod(), ask=ask))
    assert reason is not None
    sentence = "pods cannot be created: needs 2 cpu, 1 of 8 left (quota small)"
    assert reason == (sentence, ("1 of 2 trainers have a pod",))


def test_a_message_in_an_unknown_format_is_not_shown() -> None:
    ask = Recorded(event("job-uid", "FailedCreate", "PASSWORD=canary is too short"))
    reason = refused(evidence(ask=ask))
    assert reason is not None
    assert reason.sentence == "pods cannot be created; see the job's events"
    assert "canary" not in repr(reason)


def test_a_job_with_all_its_pods_is_not_refused() -> None:
    ask = Recorded(event("job-uid", "FailedCreate", QUOTA))
    assert refused(evidence(pod(), pod(), ask=ask)) is None
    assert not ask.asked


def test_a_job_without_a_failure_event_has_no_reason() -> None:
    assert refused(evidence(ask=Recorded(event("job-uid", "SuccessfulCreate", "x")))) is None
