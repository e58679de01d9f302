"""Why a run failed: which replica failed first, and what stopped it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded import Recorded, evidence, pod, workload

from paddlespec import workloads
from paddlespec.backends.cluster.why import rules
from paddlespec.backends.cluster.why.blame import culprit
from paddlespec.backends.cluster.why.deadline import passed
from paddlespec.backends.cluster.why.ended import (
    container,
    ending,
    failed,
    first,
)
from paddlespec.backends.cluster.why.taken import away


def ended(*ends: tuple[str, int, str, str], limit: str = "", rank: int = 0) -> dict[str, Any]:
    """A pod whose containers ended: name, exit code, reason, time."""
    statuses = [
        {"name": name, "state": {"terminated": {"exitCode": code, "reason": why, "finishedAt": at}}}
        for name, code, why, at in ends
    ]
    resources = f"{{limits: {{memory: {limit}}}}}" if limit else "{}"
    failed_pod = pod(
        json.dumps({"phase": "Failed", "containerStatuses": statuses}),
        spec__containers=f"[{{name: paddle, resources: {resources}}}]",
        spec__nodeName="node-3",
        metadata__name=f"fit-trainer-{rank}-x",
    )
    failed_pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] = str(rank)
    return failed_pod


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (1, "Error", "exit code 1"),
        (137, "OOMKilled", "exit code 137 (out of memory)"),
        (137, "Error", "exit code 137 (killed: out of memory, or by the system)"),
        (139, "Error", "exit code 139 (segmentation fault)"),
        (143, "Error", "exit code 143 (terminated)"),
    ],
)
def test_the_exit_code_is_described(code: int, reason: str, words: str) -> None:
    assert ending(ended(("paddle", code, reason, "1"))) == words


def test_out_of_memory_names_the_limit() -> None:
    failed_pod = ended(("paddle", 137, "OOMKilled", "1"), limit="8Gi")
    assert ending(failed_pod) == "exit code 137 (out of memory; its limit is 8Gi)"


def test_the_first_failed_container_is_reported() -> None:
    failed_pod = ended(("paddle", 143, "Error", "2"), ("sidecar", 2, "Error", "1"))
    assert ending(failed_pod) == "exit code 2 in sidecar"
    assert container(failed_pod) == "sidecar"


PRESSURE = (
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. Container"
    " paddle was using 9Gi, request is 4Gi, has larger consumption of memory. "
)


def taken(reason: str) -> str:
    return f'conditions: [{{type: DisruptionTarget, status: "True", reason: {reason}}}]'


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("{}", "stopped by the system"),
        ("{reason: Evicted}", "evicted by its node"),
        ("{reason: Evicted, message: canary}", "evicted by its node"),
        (
            f"{{reason: Evicted, message: '{PRESSURE}'}}",
            "evicted by its node, which was low on memory: used 9Gi, requested 4Gi",
        ),
        (
            "{reason: Evicted, message: 'The node was low on resource: ephemeral-storage. '}",
            "evicted by its node, which was low on ephemeral-storage",
        ),
        (
            '{reason: Evicted, message: \'Usage of EmptyDir volume "shm" exceeds the limit "1Gi". \'}',
            "evicted by its node: volume shm exceeded its limit of 1Gi",
        ),
        (
            (
                "{reason: Evicted, message: 'Container paddle exceeded its local ephemeral storage "
                'limit "2Gi". \'}'
            ),
            ("evicted by its node: container paddle exceeded its ephemeral storage limit of 2Gi"),
        ),
        (
            (
                "{reason: Evicted, message: 'Pod ephemeral local storage usage exceeds the total "
                "limit of containers 3Gi. '}"
            ),
            "evicted by its node: ephemeral local storage usage exceeded its limit of 3Gi",
        ),
        ("{reason: NodeLost}", "lost with its node"),
        ("{reason: Terminated, message: canary}", "its node was shut down"),
        ("{reason: OutOfnvidia.com/gpu}", "its node had no nvidia.com/gpu left"),
        (taken("PreemptionByScheduler"), "preempted by a pod of higher priority"),
        (taken("DeletionByTaintManager"), "removed from its node, which was tainted or lost"),
        (taken("DeletionByPodGC"), "lost with its node"),
        (
            taken("EvictionByEvictionAPI"),
            "evicted by a node drain or another eviction request",
        ),
        (taken("Quux"), "stopped by the system"),
    ],
)
def test_a_pod_that_was_stopped_from_outside(status: str, words: str) -> None:
    evicted = pod(status)
    evicted["status"]["phase"] = "Failed"
    assert ending(evicted) == words


def test_an_evicted_pod_names_its_node() -> None:
    assert ending(pod("{reason: Evicted}", spec__nodeName="node-3")) == "evicted by node-3"


def test_an_eviction_takes_precedence_over_the_exit_code() -> None:
    evicted = ended(("paddle", 137, "Error", "1"))
    evicted["status"] |= {"reason": "Evicted"}
    assert ending(evicted) == "evicted by node-3"


def test_the_replica_that_failed_first_is_reported() -> None:
    victim = ended(("paddle", 143, "Error", "2026-01-01T00:00:01Z"), rank=0)
    culprit = ended(("paddle", 7, "Error", "2026-01-01T00:00:01Z"), rank=1)
    late = ended(("paddle", 9, "Error", "2026-01-01T00:00:09Z"), rank=2)
    assert failed(evidence(victim, late, culprit)) == (
        "a replica failed: trainer 1, exit code 7",
        ("Pod/fit-trainer-1-x on node-3",),
    )


def test_a_preempted_pod_may_be_the_first() -> None:
    early, late = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"
    preempted = pod(taken("PreemptionByScheduler"), metadata__name="fit-trainer-9")
    preempted["status"] |= {"phase": "Failed"}
    preempted["status"]["conditions"][0]["lastTransitionTime"] = early
    earliest = first([ended(("paddle", 1, "Error", late)), preempted])
    assert earliest is preempted


def test_a_lost_pserver_is_reported_as_one() -> None:
    lost = ended(("paddle", 137, "OOMKilled", "1"), limit="2Gi")
    reason = failed(evidence(lost, role="pservers"))
    assert reason is not None
    assert reason.sentence == (
        "a pserver was lost: pserver 0, exit code 137 (out of memory; its limit is 2Gi)"
    )


def test_no_replica_is_blamed_without_a_failed_pod() -> None:
    assert failed(evidence(pod("phase: Running"), pod("phase: Succeeded"))) is None
    assert failed(evidence()) is None


# Blame.

BROKEN = ["[gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:36001"]
OWN = ["Traceback (most recent call last):", "ZeroDivisionError: division by zero"]


def test_a_victim_that_ended_first_is_not_blamed() -> None:
    victim = ended(("paddle", 134, "Error", "2026-01-01T00:00:01Z"), rank=0)
    guilty = ended(("paddle", 1, "Error", "2026-01-01T00:00:02Z"), rank=1)
    stopped = ended(("paddle", 143, "Error", "2026-01-01T00:00:00Z"), rank=2)
    wrote = {"fit-trainer-0-x": BROKEN, "fit-trainer-1-x": OWN}
    blamed = culprit([victim, guilty, stopped], lambda pod: wrote[pod["metadata"]["name"]])
    assert blamed is not None
    assert blamed.pod is guilty
    assert list(blamed.lines()) == [f"| {line}" for line in OWN]


def test_if_all_complain_about_others_the_first_is_blamed_with_a_probable_cause() -> None:
    pods = [ended(("paddle", 1, "Error", f"0{index}"), rank=index) for index in range(5)]
    asked = []

    def read(pod: dict[str, Any]) -> list[str]:
        asked.append(pod)
        return BROKEN

    blamed = culprit(pods, read)
    assert blamed is not None
    assert blamed.pod is pods[0]
    probable_cause = "probable cause: another replica is gone"
    assert list(blamed.lines()) == [f"| {BROKEN[0]}", probable_cause]
    assert len(asked) == 3


def test_a_replica_with_an_unreadable_log_is_still_blamed() -> None:
    blamed = culprit([ended(("paddle", 1, "Error", "1"))], lambda _: None)
    assert blamed is not None
    assert list(blamed.lines()) == ["its log cannot be read"]


def test_running_pods_are_not_blamed() -> None:
    assert culprit([pod("phase: Running")], lambda _: []) is None


# Removed pods.


def removed(
    name: str = "fit-trainer-1-x7k2p",
    reason: str = "TaintManagerEviction",
    message: str = "Marking for deletion Pod ads/fit-trainer-1-x7k2p",
    at: str = "2026-01-31T12:00:00Z",
) -> Recorded:
    return Recorded(f"""
apiVersion: v1
kind: Event
involvedObject: {{kind: Pod, name: {name}, uid: gone}}
reason: {reason}
message: {message}
lastTimestamp: {at}
""")


BEGAN = '{startTime: "2026-01-31T11:00:00Z"}'


@pytest.mark.parametrize(
    ("reason", "message", "words"),
    [
        (
            "TaintManagerEviction",
            "Marking for deletion Pod ads/fit-trainer-1-x7k2p",
            "removed from its node, which was tainted or lost",
        ),
        (
            "Preempted",
            "Preempted by pod 3c5 on node n1",
            "preempted by a pod of higher priority",
        ),
    ],
)
def test_a_removed_pod_is_reported_from_its_event(reason: str, message: str, words: str) -> None:
    asked = evidence(job=workload(BEGAN), ask=removed(reason=reason, message=message))
    name = "fit-trainer-1-x7k2p"
    assert away(asked) == (
        f"a replica failed: {name}, {words}",
        (f"Pod/{name} {reason} at 2026-01-31T12:00:00Z",),
    )


@pytest.mark.parametrize(
    "ask",
    [
        Recorded(),
        removed(name="other-trainer-1-x7k2p"),
        removed(message="Cancelling deletion of Pod ads/fit-trainer-1-x7k2p"),
        removed(at="2026-01-31T10:00:00Z"),
        removed(reason="Killing"),
    ],
    ids=["none", "another-job", "cancelled", "an-earlier-run", "another-reason"],
)
def test_unrelated_pod_events_are_ignored(ask: Recorded) -> None:
    assert away(evidence(job=workload(BEGAN), ask=ask)) is None


# Timeouts.

LATE = 'conditions: [{type: Failed, status: "True", reason: DeadlineExceeded}]'


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (43_200, "exceeded its timeout of 12h"),
        (90, "exceeded its timeout of 90s"),
        (None, "exceeded its timeout"),
    ],
)
def test_an_exceeded_timeout_names_its_length(limit: int | None, words: str) -> None:
    job = workload(LATE, activeDeadlineSeconds=limit)
    assert passed(evidence(job=job)) == (words, ())
    assert workloads.progress(job).message == f"failed: {words}"


def test_replicas_stopped_by_the_timeout_are_not_blamed() -> None:
    victim = ended(("paddle", 143, "Error", "1"))
    job = workload(LATE, activeDeadlineSeconds=60)
    reason = rules.first(rules.ENDED, evidence(victim, job=job))
    assert reason is not None
    assert reason.sentence == "exceeded its timeout of 1m"


def test_other_failures_are_not_reported_as_a_timeout() -> None:
    job = workload('conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded}]')
    assert passed(evidence(job=job)) is None
