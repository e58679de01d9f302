"""Why pods cannot be created, from the events of a Job."""

from __future__ import annotations

import pytest
from recorded import Recorded, event, evidence, pod

from paddlespec.cluster.why.creation import refused, words

FORBIDDEN = 'Error creating: pods "fit-trainer-1-x7k2p" is forbidden: '
QUOTA = f"{FORBIDDEN}exceeded quota: small, requested: cpu=2, used: cpu=7, limited: cpu=8"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "exceeded quota: small, requested: cpu=2, used: cpu=7, limited: cpu=8",
            "needs 2 cpu, 1 is left of 8 (quota small)",
        ),
        (
            (
                "exceeded quota: small, requested: limits.memory=4Gi,requests.cpu=500m, "
                "used: limits.memory=6Gi,requests.cpu=1, limited: limits.memory=8Gi,requests.cpu=1"
            ),
            (
                "needs 4Gi memory as a limit, 2Gi are left of 8Gi; "
                "needs 0.5 cpu, 0 are left of 1 (quota small)"
            ),
        ),
        (
            (
                "exceeded quota: gpus, requested: requests.nvidia.com/gpu=8,pods=1, "
                "used: requests.nvidia.com/gpu=16,pods=3, limited: requests.nvidia.com/gpu=16,pods=9"
            ),
            "needs 8 nvidia.com/gpu, 0 are left of 16 (quota gpus)",
        ),
        (
            "exceeded quota: no, requested: pods=1, used: pods=0, limited: pods=0",
            "needs 1 pod, 0 are left of 0 (quota no)",
        ),
        (
            "exceeded quota: shrunk, requested: cpu=1, used: cpu=9, limited: cpu=8",
            "needs 1 cpu, 0 are left of 8 (quota shrunk)",
        ),
        ("exceeded quota: small", "exceeds the quota small"),
        ("exceeded quota: small, requested: cpu=lots", "exceeds the quota small"),
        (
            "failed quota: small: must specify limits.cpu,limits.memory for: paddle",
            "the quota small wants limits.cpu, limits.memory to be said",
        ),
    ],
    ids=["cpu", "two", "gpu", "pods", "shrunk", "no-amounts", "no-number", "unsaid"],
)
def test_a_quota_is_told_by_its_amounts(text: str, expected: str) -> None:
    assert words(FORBIDDEN + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "maximum cpu usage per Container is 1, but limit is 2",
            "a container may have at most 1 cpu, and its limit is 2 (limit range)",
        ),
        (
            "[minimum memory usage per Pod is 1Gi, but request is 512Mi, x]",
            "a pod must have at least 1Gi memory, and its request is 512Mi (limit range)",
        ),
        (
            "maximum cpu usage per Container is 1.  No limit is specified",
            "a container may have at most 1 cpu, and names no limit (limit range)",
        ),
        (
            "cpu max limit to request ratio per Container is 2, but provided ratio is 4.500000",
            (
                "the cpu limit of a container may be at most 2 times its request, "
                "and is 4.5 times (limit range)"
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
def test_a_limit_range_is_told_by_its_amounts(text: str, expected: str) -> None:
    assert words(FORBIDDEN + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no PriorityClass with name high was found", "there is no priority class high"),
        (
            'violates PodSecurity "restricted:latest": canary',
            'they violate the Pod Security level "restricted:latest" of the namespace',
        ),
        (
            'admission webhook "policy.test" denied the request: canary',
            'the admission webhook "policy.test" denies them',
        ),
        (
            'error looking up service account ads/default: serviceaccount "default" not found',
            "there is no service account default",
        ),
        ("spec.containers[0].env[3].value: Invalid value: canary", None),
        ("", None),
    ],
)
def test_other_refusals_are_told_by_names(text: str, expected: str | None) -> None:
    assert words(text) == expected


def test_the_last_refusal_is_the_reason() -> None:
    older = event("job-uid", "FailedCreate", "no PriorityClass with name high was found")
    ask = Recorded(older + event("job-uid", "FailedCreate", QUOTA))
    found = refused(evidence(pod(), ask=ask))
    assert found is not None
    told = "pods cannot be created: needs 2 cpu, 1 is left of 8 (quota small)"
    assert found == (told, ("1 of 2 trainers have a pod",))


def test_a_text_of_no_known_form_is_not_shown() -> None:
    ask = Recorded(event("job-uid", "FailedCreate", "PASSWORD=canary is too short"))
    found = refused(evidence(ask=ask))
    assert found is not None
    assert found.sentence == "pods cannot be created: see its events"
    assert "canary" not in repr(found)


def test_a_job_that_has_its_pods_is_not_refused_any_more() -> None:
    ask = Recorded(event("job-uid", "FailedCreate", QUOTA))
    assert refused(evidence(pod(), pod(), ask=ask)) is None
    assert not ask.asked


def test_a_job_without_such_an_event_is_only_young() -> None:
    assert refused(evidence(ask=Recorded(event("job-uid", "SuccessfulCreate", "x")))) is None
