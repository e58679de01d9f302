"""Why a job waits in a queue of Kueue, or as a gang of Volcano."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import Recorded, evidence, loaded, workload

from paddlespec.cluster import readiness
from paddlespec.cluster.why.gang import not_together
from paddlespec.cluster.why.gang import words as gang_words
from paddlespec.cluster.why.kueue import queued

NO_QUOTA = "couldn't assign flavors to pod set main: "
SHORT = f"{NO_QUOTA}insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed"


def held(**fields: Any) -> dict[str, Any]:
    """The Job as Kueue keeps it."""
    found = workload(suspend=True, **fields)
    found["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "night"
    return found


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


def told(objects: str) -> tuple[str, tuple[str, ...]] | None:
    return queued(evidence(job=held(), ask=Recorded(objects)))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (SHORT, "its queue is short of 4 nvidia.com/gpu more (flavor a100)"),
        (
            f"{NO_QUOTA}insufficient unused quota for memory in flavor cpu, 8589934592 more needed",
            "its queue is short of 8Gi memory more (flavor cpu)",
        ),
        (
            (
                f"{NO_QUOTA}insufficient quota for cpu in flavor default, previously considered "
                "podsets requests (0) + current podset request (100) > maximum capacity (10)"
            ),
            "asks for 100 cpu, and its queue never has more than 10 cpu",
        ),
        (
            f"{NO_QUOTA}borrowing limit for cpu in flavor default exceeded",
            "its queue may borrow no more cpu (flavor default)",
        ),
        (
            f"{NO_QUOTA}resource nvidia.com/gpu unavailable in ClusterQueue",
            "its queue has no nvidia.com/gpu",
        ),
        (
            f"{NO_QUOTA}untolerated taint {{spot true NoSchedule }} in flavor spot",
            "does not tolerate the taint of the flavor spot",
        ),
        ("ClusterQueue team is inactive", "the cluster queue team is stopped or not complete"),
        ("ClusterQueue team doesn't exist", "there is no cluster queue team"),
        ("LocalQueue night is inactive", "the queue night is stopped or not complete"),
        (
            "Workload namespace doesn't match ClusterQueue selector",
            "its queue takes no jobs of this namespace",
        ),
        ("canary sings", "waits for its turn"),
    ],
)
def test_what_kueue_says(message: str, expected: str) -> None:
    assert told(waiting(message=message)) == (f"{expected} (place 1 of 1 in queue night)", ())


def test_the_place_is_by_priority_and_then_by_age() -> None:
    early, late = "2026-01-31T10:00:00Z", "2026-01-31T12:00:00Z"
    others = [
        waiting("older", owner="a", created=early),
        waiting("urgent", owner="b", created=late, priority=100),
        waiting("younger", owner="c", created=late),
        waiting("admitted", owner="d", created=early, status="True", reason="QuotaReserved"),
        waiting("stopped", owner="e", created=early, active="false"),
        waiting("elsewhere", owner="f", created=early).replace("night", "day"),
    ]
    assert told("".join([waiting(), *others])) == (
        ("its queue is short of 4 nvidia.com/gpu more (flavor a100) (place 3 of 4 in queue night)"),
        ("before it: Workload/urgent", "before it: Workload/older"),
    )


def test_a_job_that_was_preempted_says_so() -> None:
    evicted = "  - {type: Evicted, status: 'True', reason: Preempted, message: canary}\n"
    found = told(waiting() + evicted)
    assert found is not None
    assert found[1] == ("it was admitted once, and stopped again: Preempted",)


def test_many_that_are_before_it_are_counted() -> None:
    early = "2026-01-31T10:00:00Z"
    others = [waiting(f"w{each}", owner=f"o{each}", created=early) for each in range(5)]
    found = told("".join([waiting(), *others]))
    assert found is not None
    assert found[1][-1] == "and 2 more"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            queue("ClusterQueueIsInactive", "False"),
            "the cluster queue team is stopped or not complete (place 1 of 1 in queue night)",
        ),
        (
            queue("ClusterQueueDoesNotExist", "False"),
            "there is no cluster queue team (place 1 of 1 in queue night)",
        ),
        (
            queue("StoppedByHand", "False"),
            "the queue night is stopped or not complete (place 1 of 1 in queue night)",
        ),
        (
            queue(name="day"),
            (
                "there is no queue night in namespace ads: there is day "
                "(place 1 of 1 in queue night)"
            ),
        ),
        (
            queue(),
            (
                "its queue is short of 4 nvidia.com/gpu more (flavor a100) "
                "(place 1 of 1 in queue night)"
            ),
        ),
    ],
    ids=["inactive", "no-cluster-queue", "stopped", "no-queue", "active"],
)
def test_the_queue_itself_may_be_the_trouble(objects: str, expected: str) -> None:
    assert told(waiting() + objects) == (expected, ())


def test_a_workload_that_has_its_quota_may_wait_for_a_check() -> None:
    own = waiting(status="True", reason="QuotaReserved")
    checks = "  admissionChecks: [{name: cheap, state: Ready}, {name: provision, state: Pending}]\n"
    assert told(own + checks) == ("has its quota, and waits for the check provision", ())
    assert told(own) is None


def test_a_workload_that_somebody_stopped() -> None:
    found = told(waiting(active="false"))
    assert found == ("its workload job-fit-trainer-12345 was made inactive", ())


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
def test_nothing_is_said_of_a_queue_where_nothing_is_known(
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
                "not all of its pods fit at the same time: 1 fit on no node, 2 were not looked at, "
                "3 would fit alone"
            ),
        ),
        ("Inqueue", "canary", "not all of its pods fit at the same time"),
        ("Inqueue", "", "admitted, waits for room"),
        ("Pending", "", "waits in its queue"),
        ("Unknown", "", "only a part of its pods runs"),
    ],
)
def test_a_gang_that_does_not_start(phase: str, message: str, expected: str) -> None:
    job = workload(template={"spec": {"schedulerName": "volcano"}})
    found = not_together(evidence(job=job, ask=Recorded(gang(phase, message))))
    assert found == (f"{expected} (queue night)", ("PodGroup/fit needs 6 pods at once",))
    assert readiness.pod_group(loaded(gang(phase, message))).message == expected


def test_a_gang_that_runs_waits_for_nothing() -> None:
    job = workload(template={"spec": {"schedulerName": "volcano"}})
    assert gang_words(loaded(gang("Running"))) is None
    assert not_together(evidence(job=job, ask=Recorded(gang("Running")))) is None


def test_whoever_has_another_scheduler_is_in_no_gang() -> None:
    ask = Recorded(gang())
    assert not_together(evidence(ask=ask)) is None
    assert not ask.asked


def test_a_workload_that_is_over_has_no_place() -> None:
    over = waiting(name="old").replace("type: QuotaReserved", "type: Finished")
    over = over.replace('status: "False"', 'status: "True"')
    assert told(over + queue()) is None
    now = told(over + waiting() + queue())
    assert now is not None
    assert "(place 1 of 1 in queue night)" in now[0]
