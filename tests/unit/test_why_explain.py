"""Which causes are considered in which state of a job, and that none of them reveals secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded import Recorded, event, evidence, pod, workload

from paddlespec.backends.cluster.observe.job_states import gathered, state
from paddlespec.backends.cluster.why import rules
from paddlespec.backends.cluster.why.explain import explained
from paddlespec.runs.history import History
from paddlespec.runs.state import JobState, Stage

QUOTA = (
    'pods "x" is forbidden: exceeded quota: small, requested: cpu=2, used: cpu=7, limited: cpu=8'
)
FORBIDDEN = event("job-uid", "FailedCreate", QUOTA)
SHORT = "pods cannot be created: needs 2 cpu, 1 of 8 left (quota small)"


def explain(
    job: dict[str, Any], *pods: dict[str, Any], ask: Recorded
) -> tuple[JobState, tuple[str, ...]]:
    job["spec"]["template"]["spec"]["containers"] = [{"env": [{"name": "PADDLE_NNODES"}]}]
    objects = gathered(("ads", "fit"), [job], History(), list(pods))
    return explained(state(objects), objects, ask)


def test_a_pending_job_and_its_role_have_the_same_reason() -> None:
    job, shown = explain(workload(), ask=Recorded(FORBIDDEN))
    assert (job.stage, job.why) == (Stage.pending, SHORT)
    assert [role.why for role in job.roles] == [SHORT]
    assert shown == ("0 of 2 trainers have a pod",)


def test_a_partly_running_job_names_the_missing_trainer() -> None:
    job, shown = explain(workload("{ready: 1}"), pod("phase: Running"), ask=Recorded(FORBIDDEN))
    waits = "trainer 1 of 2 has not started; the others are waiting"
    assert (job.stage, job.why) == (Stage.running, waits)
    assert [role.why for role in job.roles] == [SHORT]
    assert shown == ("1 of 2 trainers have a pod",)


def test_trainers_waiting_for_pservers_name_what_blocks_the_pservers() -> None:
    waiting = "initContainerStatuses: [{name: wait-for-pservers, state: {running: {}}}]"
    servers = workload()
    servers["metadata"] |= {"name": "fit-pserver", "uid": "servers"}
    servers["metadata"]["labels"] = {"paddlespec.io/role": "pservers"}
    job = workload()
    ask = Recorded(event("servers", "FailedCreate", QUOTA))
    parts = [pod(waiting), pod(waiting)]
    objects = gathered(("ads", "fit"), [job, servers], History(), parts)
    job["spec"]["template"]["spec"]["containers"] = []
    looked, shown = explained(state(objects), objects, ask)
    assert looked.why == f"waiting for the pservers: {SHORT}"
    assert [role.why for role in looked.roles] == ["waiting for the pservers", SHORT]
    assert shown == ("0 of 2 pservers have a pod",)


def test_pods_of_an_earlier_run_are_ignored() -> None:
    earlier = pod("phase: Running")
    earlier["metadata"]["ownerReferences"][0]["uid"] = "another"
    going = pod("phase: Running", metadata__deletionTimestamp="x")
    job, _ = explain(workload("{ready: 1}"), earlier, going, ask=Recorded(FORBIDDEN))
    assert job.why is None
    assert [role.why for role in job.roles] == [SHORT]


def failed() -> dict[str, Any]:
    failed_pod = pod(
        "{phase: Failed, containerStatuses: [{name: paddle, state: {terminated: {exitCode: 7}}}]}"
    )
    failed_pod["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z"
    return failed_pod


@pytest.mark.parametrize("condition", ["Failed", "FailureTarget"])
def test_a_failed_job_names_the_replica(condition: str) -> None:
    status = f'conditions: [{{type: {condition}, status: "True", reason: BackoffLimitExceeded}}]'
    job, shown = explain(workload(status), failed(), ask=Recorded())
    assert job.stage.is_failure
    assert job.why == "a replica failed: trainer 0, exit code 7"
    assert shown == ("Pod/fit-trainer-0-abcde",)


def test_a_failed_job_without_pods_keeps_its_reason() -> None:
    status = 'conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded}]'
    job, shown = explain(workload(status), ask=Recorded())
    assert (job.why, shown) == ("a replica failed", ())


@pytest.mark.parametrize(
    ("status", "stage"),
    [
        ('conditions: [{type: Complete, status: "True"}]', Stage.succeeded),
        ("{ready: 0, succeeded: 2}", Stage.running),
    ],
)
def test_a_healthy_job_causes_no_requests(status: str, stage: Stage) -> None:
    ask = Recorded(FORBIDDEN)
    ended = [pod("phase: Succeeded"), pod("phase: Succeeded")]
    job, shown = explain(workload(status), *ended, ask=ask)
    assert (job.stage, job.why, shown) == (stage, None, ())
    assert not ask.asked


CANARY = "PASSWORD=canary-hunter2"
SAID = f"{CANARY} 0/1 nodes are available {CANARY}: {CANARY}, {QUOTA} {CANARY}"


@pytest.mark.parametrize(
    "rule",
    [*rules.HELD, *rules.HINDERED, *rules.IDLE, *rules.ENDED],
    ids=lambda rule: rule.__name__,
)
def test_no_rule_repeats_text_that_the_server_may_quote(rule: Any) -> None:
    waiting = {"reason": "ErrImagePull", "message": SAID}
    ended = {"exitCode": 1, "reason": "Error", "message": SAID}
    conditions = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": SAID},
        {"type": "DisruptionTarget", "status": "True", "reason": "Quux", "message": SAID},
    ]
    pods = [
        pod(
            json.dumps(
                {
                    "phase": phase,
                    "reason": "Evicted",
                    "message": SAID,
                    "conditions": conditions,
                    "containerStatuses": [{"name": "paddle", "image": "a/b:1", "state": state}],
                }
            )
        )
        for phase, state in (
            ("Pending", {"waiting": waiting}),
            ("Failed", {"terminated": ended}),
            ("Running", {"running": {}}),
        )
    ]
    job = workload(
        json.dumps({"conditions": [{"type": "Failed", "status": "True", "message": SAID}]}),
        suspend=True,
        completions=4,
        template={"spec": {"schedulerName": "volcano"}},
    )
    job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "night"
    condition = {"status": "False", "reason": "Pending", "message": SAID}
    owners = [{"uid": "job-uid"}]
    extensions = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "Workload",
            "metadata": {"name": "w", "ownerReferences": owners},
            "spec": {"queueName": "night"},
            "status": {"conditions": [{"type": "QuotaReserved", **condition}]},
        },
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "g", "labels": {"paddlespec.io/job": "fit"}},
            "spec": {"minMember": 4},
            "status": {
                "conditions": [{"type": "Unschedulable", "status": "True", "message": SAID}]
            },
        },
    ]
    events = "".join(
        event(uid, reason, SAID)
        for uid in ("job-uid", "pod-uid")
        for reason in ("FailedCreate", "Failed", "FailedMount", "Preempted")
    )
    documents = "".join(f"---\n{json.dumps(extension)}\n" for extension in extensions)
    asked = Recorded(documents + events, logs=f"{CANARY} Waiting peer start... {CANARY}")
    reason = rule(evidence(*pods, job=job, ask=asked))
    assert "canary" not in repr(reason)
