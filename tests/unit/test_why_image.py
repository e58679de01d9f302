"""Why an image cannot be pulled, and what else keeps containers from starting."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded import Recorded, event, evidence, pod

from paddlespec.cluster.why.container import does_not_start, missing
from paddlespec.cluster.why.image import cannot_pull, error

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


def told(found: dict[str, Any], ask: Recorded | None = None) -> tuple[str, tuple[str, ...]]:
    reason = cannot_pull(evidence(found, ask=ask))
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
            "not permitted, or no such image",
        ),
        (
            f"{PULL}unexpected status from HEAD request to https://registry.test: 401 Unauthorized",
            "not permitted, or no such image",
        ),
        ("no basic auth credentials", "not permitted, or no such image"),
        (f"{PULL}dial tcp 10.0.0.1:443: i/o timeout", "the registry cannot be reached"),
        (f"{PULL}dial tcp: lookup registry.test: no such host", "no such registry"),
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
            "too many requests: its rate limit",
        ),
        (
            f"{PULL}no match for platform in manifest: not found",
            "there is none for this kind of processor",
        ),
        ("failed to extract layer: no space left on device", "the disk of the node is full"),
        ('Back-off pulling image "registry.test/not found/403"', None),
        ("canary", None),
    ],
)
def test_what_a_runtime_says(text: str, expected: str | None) -> None:
    assert error(text) == expected


def test_the_image_and_its_error() -> None:
    found = waiting("ErrImagePull", f"{PULL}{IMAGE}: not found, canary")
    assert told(found) == (
        f"cannot pull image {IMAGE} (no such image or tag)",
        ("it is pulled without a pull secret",),
    )


def test_a_pull_that_is_put_off_has_its_error_in_an_event() -> None:
    ask = Recorded(event("pod-uid", "Failed", f"{PULL}401 Unauthorized"))
    found = waiting("ImagePullBackOff", f'Back-off pulling image "{IMAGE}"')
    assert told(found, ask)[0] == f"cannot pull image {IMAGE} (not permitted, or no such image)"
    assert told(found)[0] == f"cannot pull image {IMAGE} (ImagePullBackOff)"


SECRETS = "{kind: PullSecrets, known: {team: [registry.test], hub: [docker.io], empty: []}}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("team", "it is pulled with the pull secret team"),
        ("hub", "the pull secret hub is for docker.io, not for registry.test"),
        ("empty", "the pull secret empty is for no registry, not for registry.test"),
        ("absent", "there is no pull secret absent in namespace ads"),
    ],
)
def test_the_pull_secret_is_looked_at(name: str, expected: str) -> None:
    found = waiting("ErrImagePull", "x", spec__imagePullSecrets=f"[{{name: {name}}}]")
    assert told(found, Recorded(SECRETS))[1] == (expected,)


def test_whoever_may_not_read_secrets_learns_its_name() -> None:
    found = waiting("ErrImagePull", "x", spec__imagePullSecrets="[{name: team}]")
    assert told(found)[1] == ("it is pulled with the pull secret team",)


@pytest.mark.parametrize("reason", ["ContainerCreating", "CrashLoopBackOff"])
def test_who_waits_for_something_else_pulls_nothing(reason: str) -> None:
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
            'misses something that its variables or volumes name (secret "team-token" not found)',
        ),
        ("CrashLoopBackOff", "back-off canary", "ends again and again (CrashLoopBackOff)"),
        ("RunContainerError", "exec: canary", "does not start (RunContainerError)"),
    ],
)
def test_a_container_that_is_stuck(reason: str, message: str, sentence: str) -> None:
    found = does_not_start(evidence(waiting(reason, message)))
    assert found == (sentence, ("Pod/fit-trainer-0-abcde is the first of those",))


def test_a_volume_that_cannot_be_mounted() -> None:
    text = 'MountVolume.SetUp failed for volume "x": configmap "code" not found'
    ask = Recorded(event("pod-uid", "FailedMount", text))
    creating = waiting("ContainerCreating", spec__nodeName="n1")
    found = does_not_start(evidence(creating, ask=ask))
    assert found is not None
    assert found.sentence == 'cannot mount a volume (configmap "code" not found)'


@pytest.mark.parametrize("text", ["MountVolume.SetUp failed: canary", ""])
def test_a_pod_that_starts_is_not_stuck(text: str) -> None:
    ask = Recorded(event("pod-uid", "FailedMount", text) if text else "")
    creating = waiting("ContainerCreating", spec__nodeName="n1")
    assert does_not_start(evidence(creating, ask=ask)) is None


def test_of_the_words_of_the_kubelet_only_names_are_told() -> None:
    text = 'MountVolume failed: configmap "code" not found (PASSWORD=hunter2)'
    assert missing(text) == 'configmap "code" not found'
    assert missing("exec: PASSWORD=hunter2") is None
    assert missing(None) is None
