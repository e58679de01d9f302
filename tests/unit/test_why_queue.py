"""Why a job waits in a queue of Kueue, or as a gang of Volcano."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import Recorded, evidence, loaded, workload

from paddlespec.backends.cluster.observe import readiness
from paddlespec.backends.cluster.why.gang import not_together, waits_for
from paddlespec.backends.cluster.why.kueue import queued

NO_QUOTA = "couldn't assign flavors to pod set main: "
SHORT = f"{NO_QUOTA}insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed"


def held(**fields: Any) -> dict[str, Any]:
    """The Job as Kueue keeps it."""
    job = workload(suspend=True, **fields)
    job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "night"
    return job


def waiting(
    name: str = "job-fit-trainer-12345",
    message: str = SHORT,
    *,
    owner: str = "job-uid",
    created: str = "2026-01-31T11:00:00Z",
    status: str = "False",
    reason: str = "Pending",
    **spec: Any,
) -> str:
    more = "".join(f", {key}: {value}" for key, value in spec.items())
    return f"""---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata:
  name: {name}
  creationTimestamp: {created}
  ownerReferences: [{{kind: Job, name: x, uid: {owner}}}]
spec: {{queueName: night{more}}}
status:
  conditions:
  - {{type: QuotaReserved, status: "{status}", reason: {reason}, message: "{message}"}}
"""


def queue(reason: str = "Ready", active: str = "True", name: str = "night") -> str:
    return f"""---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: {name}}}
spec: {{clusterQueue: team}}
status: {{conditions: [{{type: Active, status: "{active}", reason: {reason}}}]}}
"""


def reason_of(objects: str) -> tuple[str, tuple[str, ...]] | None:
    return queued(evidence(job=held(), ask=Recorded(objects)))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (SHORT, "needs 4 nvidia.com/gpu more than its queue has free (flavor a100)"),
        (
            f"{NO_QUOTA}insufficient unused quota for memory in flavor cpu, 8589934592 more needed",
            "needs 8Gi memory more than its queue has free (flavor cpu)",
        ),
        (
            (
                f"{NO_QUOTA}insufficient quota for cpu in flavor default, previously considered "
                "podsets requests (0) + current podset request (100) > maximum capacity (10)"
            ),
            "requests 100 cpu, but its queue is limited to 10 cpu",
        ),
        (
            f"{NO_QUOTA}borrowing limit for cpu in flavor default exceeded",
            "its queue cannot borrow more cpu (flavor default)",
        ),
        (
            f"{NO_QUOTA}resource nvidia.com/gpu unavailable in ClusterQueue",
            "its queue has no nvidia.com/gpu",
        ),
        (
            f"{NO_QUOTA}untolerated taint {{spot true NoSchedule }} in flavor spot",
            "does not tolerate the taint of flavor spot",
        ),
        ("ClusterQueue team is inactive", "cluster queue team is stopped or misconfigured"),
        ("ClusterQueue team doesn't exist", "cluster queue team does not exist"),
        ("LocalQueue night is inactive", "queue night is stopped or misconfigured"),
        (
            "Workload namespace doesn't match ClusterQueue selector",
            "its queue accepts no jobs from this namespace",
        ),
        ("canary sings", "waiting for its turn"),
    ],
)
def test_a_message_of_kueue(message: str, expected: str) -> None:
    assert reason_of(waiting(message=message)) == (
        f"{expected} (position 1 of 1 in queue night)",
        (),
    )


def test_the_position_depends_on_priority_then_age() -> None:
    early, late = "2026-01-31T10:00:00Z", "2026-01-31T12:00:00Z"
    others = [
        waiting("older", owner="a", created=early),
        waiting("urgent", owner="b", created=late, priority=100),
        waiting("younger", owner="c", created=late),
        waiting("admitted", owner="d", created=early, status="True", reason="QuotaReserved"),
        waiting("stopped", owner="e", created=early, active="false"),
        waiting("elsewhere", owner="f", created=early).replace("night", "day"),
    ]
    assert reason_of("".join([waiting(), *others])) == (
        (
            "needs 4 nvidia.com/gpu more than its queue has free (flavor a100) (position 3 of 4 in queue night)"
        ),
        ("ahead of it: Workload/urgent", "ahead of it: Workload/older"),
    )


def test_a_preempted_job_shows_its_eviction() -> None:
    evicted = "  - {type: Evicted, status: 'True', reason: Preempted, message: canary}\n"
    reason = reason_of(waiting() + evicted)
    assert reason is not None
    assert reason[1] == ("admitted earlier, then evicted: Preempted",)


def test_workloads_ahead_of_it_beyond_three_are_counted() -> None:
    early = "2026-01-31T10:00:00Z"
    others = [waiting(f"w{index}", owner=f"o{index}", created=early) for index in range(5)]
    reason = reason_of("".join([waiting(), *others]))
    assert reason is not None
    assert reason[1][-1] == "and 2 more"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            queue("ClusterQueueIsInactive", "False"),
            "cluster queue team is stopped or misconfigured (position 1 of 1 in queue night)",
        ),
        (
            queue("ClusterQueueDoesNotExist", "False"),
            "cluster queue team does not exist (position 1 of 1 in queue night)",
        ),
        (
            queue("StoppedByHand", "False"),
            "queue night is stopped or misconfigured (position 1 of 1 in queue night)",
        ),
        (
            queue(name="day"),
            ("namespace ads has no queue night; its queues: day (position 1 of 1 in queue night)"),
        ),
        (
            queue(),
            (
                "needs 4 nvidia.com/gpu more than its queue has free (flavor a100) "
                "(position 1 of 1 in queue night)"
            ),
        ),
    ],
    ids=["inactive", "no-cluster-queue", "stopped", "no-queue", "active"],
)
def test_a_problem_of_the_queue_itself(objects: str, expected: str) -> None:
    assert reason_of(waiting() + objects) == (expected, ())


def test_a_workload_with_quota_may_wait_for_an_admission_check() -> None:
    own = waiting(status="True", reason="QuotaReserved")
    checks = "  admissionChecks: [{name: cheap, state: Ready}, {name: provision, state: Pending}]\n"
    assert reason_of(own + checks) == (
        "has its quota and is waiting for admission check provision",
        (),
    )
    assert reason_of(own) is None


def test_a_deactivated_workload() -> None:
    reason = reason_of(waiting(active="false"))
    assert reason == ("its Kueue workload job-fit-trainer-12345 was deactivated", ())


@pytest.mark.parametrize(
    ("job", "objects"),
    [
        (workload(suspend=True), waiting()),
        ({**held(), "spec": {**held()["spec"], "suspend": False}}, waiting()),
        (held(), ""),
        (held(), waiting(owner="another")),
    ],
    ids=["no-queue", "runs", "may-not-read", "not-seen-yet"],
)
def test_without_information_about_a_queue_no_reason_is_given(
    job: dict[str, Any], objects: str
) -> None:
    assert queued(evidence(job=job, ask=Recorded(objects))) is None


# Volcano.


def gang(phase: str = "Pending", message: str = "") -> str:
    unschedulable = (
        f'{{type: Unschedulable, status: "True", reason: NotEnoughResources, message: "{message}"}}'
    )
    return f"""---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: fit, labels: {{paddlespec.io/job: fit}}}}
spec: {{minMember: 6, queue: night}}
status: {{phase: {phase}, conditions: [{unschedulable if message else ""}]}}
"""


TORN = (
    "3/6 tasks in gang unschedulable: pod group is not ready, 6 Pending, 6 minAvailable; "
    "Pending: 1 Unschedulable, 2 Undetermined, 3 Schedulable"
)


@pytest.mark.parametrize(
    ("phase", "message", "expected"),
    [
        (
            "Inqueue",
            TORN,
            (
                "its pods do not all fit at the same time: 1 fit on no node, 2 were not evaluated, "
                "3 would fit on their own"
            ),
        ),
        ("Inqueue", "canary", "its pods do not all fit at the same time"),
        ("Inqueue", "", "admitted, waiting for resources"),
        ("Pending", "", "waiting in its queue"),
        ("Unknown", "", "only some of its pods are running"),
    ],
)
def test_a_gang_that_does_not_start(phase: str, message: str, expected: str) -> None:
    job = workload(template={"spec": {"schedulerName": "volcano"}})
    reason = not_together(evidence(job=job, ask=Recorded(gang(phase, message))))
    assert reason == (f"{expected} (queue night)", ("PodGroup/fit needs 6 pods at once",))
    assert readiness.pod_group(loaded(gang(phase, message))).message == expected


def test_a_running_gang_has_no_reason() -> None:
    job = workload(template={"spec": {"schedulerName": "volcano"}})
    assert waits_for(loaded(gang("Running"))) is None
    assert not_together(evidence(job=job, ask=Recorded(gang("Running")))) is None


def test_jobs_of_another_scheduler_are_in_no_gang() -> None:
    ask = Recorded(gang())
    assert not_together(evidence(ask=ask)) is None
    assert not ask.asked


def test_a_finished_workload_has_no_position() -> None:
    over = waiting(name="old").replace("type: QuotaReserved", "type: Finished")
    over = over.replace('status: "False"', 'status: "True"')
    assert reason_of(over + queue()) is None
    now = reason_of(over + waiting() + queue())
    assert now is not None
    assert "(position 1 of 1 in queue night)" in now[0]
