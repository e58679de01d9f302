"""Why an image cannot be pulled, and what else keeps containers from starting."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded import Recorded, event, evidence, pod

from paddlespec.backends.cluster.why.container import does_not_start, missing
from paddlespec.backends.cluster.why.image import cannot_pull, error

IMAGE = "registry.test/team/train:1"
PULL = f'failed to pull and unpack image "{IMAGE}": failed to resolve reference "{IMAGE}": '


def waiting(reason: str, message: str = "", **fields: str) -> dict[str, Any]:
    status = {
        "containerStatuses": [
            {
                "name": "paddle",
                "image": IMAGE,
                "state": {"waiting": {"reason": reason, "message": message}},
            }
        ]
    }
    return pod(json.dumps(status), **fields)


def reason_of(
    waiting_pod: dict[str, Any], ask: Recorded | None = None
) -> tuple[str, tuple[str, ...]]:
    reason = cannot_pull(evidence(waiting_pod, ask=ask))
    assert reason is not None
    return reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"rpc error: code = NotFound desc = {PULL}{IMAGE}: not found", "no such image or tag"),
        ("Error reading manifest 1 in registry.test/x: manifest unknown", "no such image or tag"),
        (
            (
                f"{PULL}pull access denied, repository does not exist or may require "
                "authorization: server message: insufficient_scope: authorization failed"
            ),
            "access denied, or no such image",
        ),
        (
            f"{PULL}unexpected status from HEAD request to https://registry.test: 401 Unauthorized",
            "access denied, or no such image",
        ),
        ("no basic auth credentials", "access denied, or no such image"),
        (f"{PULL}dial tcp 10.0.0.1:443: i/o timeout", "cannot reach the registry"),
        (f"{PULL}dial tcp: lookup registry.test: no such host", "registry host not found"),
        (
            f"{PULL}tls: failed to verify certificate: x509: certificate signed by unknown authority",
            "the registry's certificate is not trusted",
        ),
        (
            f"{PULL}http: server gave HTTP response to HTTPS client",
            "the registry speaks HTTP, not HTTPS",
        ),
        (
            f"{PULL}429 Too Many Requests - toomanyrequests: You have reached your pull rate limit",
            "registry rate limit reached",
        ),
        (
            f"{PULL}no match for platform in manifest: not found",
            "no image for the node's CPU architecture",
        ),
        ("failed to extract layer: no space left on device", "the node's disk is full"),
        ('Back-off pulling image "registry.test/not found/403"', None),
        ("canary", None),
    ],
)
def test_an_error_of_the_container_runtime(text: str, expected: str | None) -> None:
    assert error(text) == expected


def test_the_image_and_its_error() -> None:
    waiting_pod = waiting("ErrImagePull", f"{PULL}{IMAGE}: not found, canary")
    assert reason_of(waiting_pod) == (
        f"cannot pull image {IMAGE} (no such image or tag)",
        ("pulled without a pull secret",),
    )


def test_the_error_of_a_pull_in_backoff_comes_from_an_event() -> None:
    ask = Recorded(event("pod-uid", "Failed", f"{PULL}401 Unauthorized"))
    waiting_pod = waiting("ImagePullBackOff", f'Back-off pulling image "{IMAGE}"')
    assert (
        reason_of(waiting_pod, ask)[0]
        == f"cannot pull image {IMAGE} (access denied, or no such image)"
    )
    assert reason_of(waiting_pod)[0] == f"cannot pull image {IMAGE} (ImagePullBackOff)"


SECRETS = "{kind: PullSecrets, known: {team: [registry.test], hub: [docker.io], empty: []}}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("team", "pulled with pull secret team"),
        ("hub", "pull secret hub is for docker.io, not registry.test"),
        ("empty", "pull secret empty is for no registry, not registry.test"),
        ("absent", "pull secret absent does not exist in namespace ads"),
    ],
)
def test_the_pull_secret_is_checked(name: str, expected: str) -> None:
    waiting_pod = waiting("ErrImagePull", "x", spec__imagePullSecrets=f"[{{name: {name}}}]")
    assert reason_of(waiting_pod, Recorded(SECRETS))[1] == (expected,)


def test_without_the_right_to_read_secrets_the_pull_secret_is_named() -> None:
    waiting_pod = waiting("ErrImagePull", "x", spec__imagePullSecrets="[{name: team}]")
    assert reason_of(waiting_pod)[1] == ("pulled with pull secret team",)


@pytest.mark.parametrize("reason", ["ContainerCreating", "CrashLoopBackOff"])
def test_a_container_waiting_for_another_reason_is_no_pull_problem(reason: str) -> None:
    ask = Recorded()
    assert cannot_pull(evidence(waiting(reason), ask=ask)) is None
    assert not ask.asked


# Containers.


@pytest.mark.parametrize(
    ("reason", "message", "sentence"),
    [
        (
            "CreateContainerConfigError",
            'secret "team-token" not found',
            'its container cannot be created (secret "team-token" not found)',
        ),
        ("CrashLoopBackOff", "back-off canary", "keeps crashing (CrashLoopBackOff)"),
        ("RunContainerError", "exec: canary", "does not start (RunContainerError)"),
    ],
)
def test_a_container_that_is_stuck(reason: str, message: str, sentence: str) -> None:
    cause = does_not_start(evidence(waiting(reason, message)))
    assert cause == (sentence, ("first such pod: Pod/fit-trainer-0-abcde",))


def test_a_volume_that_cannot_be_mounted() -> None:
    text = 'MountVolume.SetUp failed for volume "x": configmap "code" not found'
    ask = Recorded(event("pod-uid", "FailedMount", text))
    creating = waiting("ContainerCreating", spec__nodeName="n1")
    reason = does_not_start(evidence(creating, ask=ask))
    assert reason is not None
    assert reason.sentence == 'cannot mount a volume (configmap "code" not found)'


@pytest.mark.parametrize("text", ["MountVolume.SetUp failed: canary", ""])
def test_a_pod_that_starts_is_not_stuck(text: str) -> None:
    ask = Recorded(event("pod-uid", "FailedMount", text) if text else "")
    creating = waiting("ContainerCreating", spec__nodeName="n1")
    assert does_not_start(evidence(creating, ask=ask)) is None


def test_only_names_are_copied_from_messages_of_the_kubelet() -> None:
    text = 'MountVolume failed: configmap "code" not found (PASSWORD=hunter2)'
    assert missing(text) == 'configmap "code" not found'
    assert missing("exec: PASSWORD=hunter2") is None
    assert missing(None) is None
