"""`get queues` and what they admit, with the kinds of Kueue and Volcano as those define them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from user import PS, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
VOLCANO = "/apis/scheduling.volcano.sh/v1beta1"
QUEUED = "  scheduling: {scheduler: SCHEDULER, queue: QUEUE}\n"
SPEC: dict[str, Any] = {
    "cohortName": "all",
    "resourceGroups": [
        {
            "coveredResources": ["cpu", "memory"],
            "flavors": [
                {
                    "name": "spot",
                    "resources": [
                        {"name": "cpu", "nominalQuota": "3", "borrowingLimit": "0"},
                        {"name": "memory", "nominalQuota": "4Gi", "borrowingLimit": "0"},
                    ],
                },
                {
                    "name": "reserved",
                    "resources": [
                        {"name": "cpu", "nominalQuota": "10", "borrowingLimit": "2"},
                        {"name": "memory", "nominalQuota": "20Gi", "borrowingLimit": "0"},
                    ],
                },
            ],
        }
    ],
}
STATUS = {
    "flavorsReservation": [
        {"name": "spot", "resources": [{"name": "cpu", "total": "1500m"}]},
        {"name": "reserved", "resources": [{"name": "cpu", "total": "6"}]},
    ],
    "flavorsUsage": [],
}


@pytest.fixture
def user(
    control_plane: ControlPlane,
    namespace: str,
    tmp_path: Path,
    extensions: Callable[..., None],
) -> User:
    extensions("kueue", "volcano")
    return User.admin(control_plane, namespace, tmp_path)


def put(user: User, path: str, manifest: dict[str, Any], status: dict[str, Any]) -> None:
    """Create an object, and write the status that a controller would."""
    live = user.plane.request("POST", path, manifest)
    live["status"] = status
    user.plane.request("PUT", f"{path}/{manifest['metadata']['name']}/status", live)


@pytest.fixture
def night(user: User) -> Iterator[str]:
    """A local queue, and its cluster queue, which is named after the namespace."""
    own = user.namespace
    put(
        user,
        f"{KUEUE}/clusterqueues",
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ClusterQueue",
            "metadata": {"name": own},
            "spec": SPEC,
        },
        STATUS,
    )
    put(
        user,
        f"{KUEUE}/namespaces/{own}/localqueues",
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "LocalQueue",
            "metadata": {"name": "night"},
            "spec": {"clusterQueue": own},
        },
        {"pendingWorkloads": 3, "admittedWorkloads": 2, "reservingWorkloads": 2},
    )
    yield "night"
    user.plane.request("DELETE", f"{KUEUE}/clusterqueues/{own}")


@pytest.fixture
def ads(user: User) -> Iterator[str]:
    """A queue of Volcano; they belong to no namespace."""
    name = f"ads-{user.namespace}"
    put(
        user,
        f"{VOLCANO}/queues",
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": {"weight": 2, "capability": {"cpu": "6", "nvidia.com/gpu": "8"}},
        },
        {
            "state": "Open",
            "allocated": {"cpu": "1500m", "memory": "2Gi"},
            "pending": 1,
            "running": 4,
        },
    )
    yield name
    user.plane.request("DELETE", f"{VOLCANO}/queues/{name}")


def asked(user: User, queue: str, scheduler: str, *arguments: str, code: int) -> Any:
    queued = QUEUED.replace("SCHEDULER", scheduler).replace("QUEUE", queue)
    path = user.write(PS.replace("NAME", "fit") + queued)
    done = user.run("get", "quota", "--for", path, "-o", "json", *arguments, code=code)
    return json.loads(done.stdout)


def by_name(found: Any) -> dict[tuple[str, str | None], Any]:
    return {(each["name"], each["resource"]): each for each in found["lines"]}


def test_a_local_queue_shows_what_its_cluster_queue_has(user: User, night: str) -> None:
    found = json.loads(user.run("get", "queues", "-o", "json").stdout)
    assert found["kueue"] == "kueue.x-k8s.io/v1beta2"
    (queue,) = [each for each in found["queues"] if each["scheduler"] == "kueue"]
    assert (queue["name"], queue["clusterQueue"], queue["cohort"]) == (night, user.namespace, "all")
    assert (queue["state"], queue["pending"], queue["running"], queue["reserving"]) == (
        *("active", 3, 2, 2),
    )
    assert queue["resources"][:3] == [
        {"flavor": "spot", "resource": "cpu", "quota": "3", "used": "1.5", "free": "1.5"},
        {"flavor": "spot", "resource": "memory", "quota": "4Gi", "used": "0", "free": "4Gi"},
        {"flavor": "reserved", "resource": "cpu", "quota": "10", "used": "6", "free": "4"},
    ]
    assert user.run("get", "queues", "-o", "name").stdout.startswith("kueue/night\n")
    held = json.loads(user.run("get", "resources", "-o", "json").stdout)["resources"]
    assert [
        [each["name"], each["allocatable"], each["used"], each["free"]]
        for each in held
        if each["kind"] == "queue" and each["resource"] == "cpu"
    ] == [["night/spot", "3", "1.5", "1.5"], ["night/reserved", "10", "6", "4"]]
    table = user.run("get", "queues", "-A").stdout.splitlines()
    assert table[0].split()[:4] == ["NAMESPACE", "NAME", "SCHEDULER", "STATE"]
    assert any(each.split()[:2] == [user.namespace, night] for each in table)


def test_a_queue_of_volcano_shows_its_bounds_and_what_is_allocated(user: User, ads: str) -> None:
    found = json.loads(user.run("get", "queues", "-o", "json").stdout)
    (queue,) = [each for each in found["queues"] if each["name"] == ads]
    assert (queue["state"], queue["weight"], queue["pending"], queue["running"]) == (
        *("active", 2, 1, 4),
    )
    assert [(each["resource"], each["quota"], each["used"]) for each in queue["resources"]] == [
        ("cpu", "6", "1.5"),
        ("memory", None, "2Gi"),
        ("nvidia.com/gpu", "8", "0"),
    ]


def test_roles_take_the_first_flavor_that_holds_them(user: User, night: str) -> None:
    # Two pservers need 2 cores, of which `spot` has 1.5: both roles go to `reserved`, which has 4.
    found = asked(user, night, "kueue", code=0)
    lines = by_name(found)
    assert found["fits"] is True
    assert lines["night/spot", "cpu"]["need"] == "0"
    assert (lines["night/reserved", "cpu"]["need"], lines["night/reserved", "memory"]["need"]) == (
        *("4", "4Gi"),
    )


def test_what_is_short_may_be_borrowed_of_the_cohort_up_to_its_limit(
    user: User, night: str
) -> None:
    one = ("-u", "pservers.replicas=1")
    found = asked(user, night, "kueue", "-u", "trainers.replicas=5", *one, code=0)
    line = by_name(found)["night/reserved", "cpu"]
    assert (found["fits"], line["short"], line["fits"]) == (None, "1", None)
    assert line["reason"] == "the rest would have to be borrowed in the cohort all"
    found = asked(user, night, "kueue", "-u", "trainers.replicas=7", *one, code=3)
    assert (found["fits"], by_name(found)["night/spot", "cpu"]["short"]) == (False, "5.5")


def test_a_queue_that_is_stopped_or_absent_admits_nothing(user: User, night: str) -> None:
    found = asked(user, "day", "kueue", code=3)
    assert by_name(found)["day", None]["reason"] == "there is no queue day"
    path = f"{KUEUE}/clusterqueues/{user.namespace}"
    live = user.plane.request("GET", path)
    live["spec"]["stopPolicy"] = "Hold"
    user.plane.request("PUT", path, live)
    found = asked(user, night, "kueue", code=3)
    told = by_name(found)[night, None]["reason"]
    assert told == f"it is stopped: stopPolicy of ClusterQueue {user.namespace} is Hold"


def test_the_bounds_of_volcano_are_for_the_whole_job(user: User, ads: str) -> None:
    line = by_name(asked(user, ads, "volcano", code=0))[ads, "cpu"]
    assert (line["need"], line["free"], line["short"]) == ("4", "4.5", "0")
    line = by_name(asked(user, ads, "volcano", "-u", "trainers.replicas=3", code=3))[ads, "cpu"]
    assert (line["need"], line["short"]) == ("5", "0.5")


def test_who_may_not_read_cluster_queues_is_told_so(user: User, night: str) -> None:
    rules = [{"apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues"], "verbs": ["list"]}]
    user.plane.allow("reader", user.namespace, rules)
    alice = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    done = alice.run("get", "queues", "-o", "json")
    (queue,) = json.loads(done.stdout)["queues"]
    assert (queue["name"], queue["pending"], queue["resources"]) == (night, 3, None)
    assert "you may not list clusterqueues" in done.stderr
    assert "you may not list queues" in done.stderr
    found = asked(alice, night, "kueue", code=0)
    assert found["fits"] is None
    assert by_name(found)[night, None]["fits"] is None


def test_a_queue_that_nobody_may_list_is_not_said_to_be_absent(user: User, night: str) -> None:
    kubeconfig = user.plane.kubeconfig_for("nobody", user.namespace)
    found = asked(user._replace(kubeconfig=kubeconfig), night, "kueue", code=0)
    assert found["fits"] is None
    assert by_name(found)[night, None]["reason"] == "unknown: you may not list queues"


def test_a_namespace_without_queues_says_which_scheduler_there_is(user: User) -> None:
    user.plane.eventually(lambda: not user.plane.request("GET", f"{VOLCANO}/queues")["items"])
    told = user.run("get", "queues").stderr
    assert told == f"kueue and volcano have no queue in namespace {user.namespace}\n"


SHORT = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor a100, 4 more needed"
)


def queued(user: User, queue: str, scheduler: str) -> None:
    """Apply a job that its queue does not let run."""
    wanted = QUEUED.replace("SCHEDULER", scheduler).replace("QUEUE", queue)
    nowhere = ("-u", "trainers.nodeSelector.pool=none")
    user.run("apply", user.write(PS.replace("NAME", "fit") + wanted), *nowhere)
    if scheduler == "kueue":  # its webhook does this, which is not here
        held = ("--field-manager=kueue", "--type=merge", "-p", '{"spec": {"suspend": true}}')
        user.plane.kubectl("patch", "job", "fit-trainer", "-n", user.namespace, *held)


def workload(user: User, name: str, priority: int, owner: dict[str, Any] | None = None) -> None:
    """What Kueue keeps of a job that waits."""
    pod = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
    metadata: dict[str, Any] = {"name": name}
    if owner:
        own = {"name": owner["name"], "uid": owner["uid"], "controller": True}
        metadata["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", **own}]
    condition = {
        "type": "QuotaReserved",
        "status": "False",
        "reason": "Pending",
        "message": SHORT,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    put(
        user,
        f"{KUEUE}/namespaces/{user.namespace}/workloads",
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": metadata,
            "spec": {
                "queueName": "night",
                "priority": priority,
                "podSets": [{"name": "main", "count": 2, "template": {"spec": pod}}],
            },
        },
        {"conditions": [condition]},
    )


def test_status_tells_the_place_in_a_queue_of_kueue(user: User, night: str) -> None:
    queued(user, night, "kueue")
    workload(user, "job-other", priority=10)
    workload(user, "job-fit-trainer", priority=5, owner=user.get("jobs", "fit-trainer")["metadata"])
    workload(user, "job-late", priority=5)
    shown = user.run("status", "fit").stdout
    expected = "its queue is short of 4 nvidia.com/gpu more (flavor a100) (place 2 of 3 in queue"
    assert f"state:      queued: {expected} night)" in shown
    assert "evidence:   before it: Workload/job-other" in shown
    (job,) = json.loads(user.run("get", "jobs", "-o", "json").stdout)["jobs"]
    assert (job["state"], job["queue"]) == ("queued", "night")


def test_status_tells_of_a_queue_that_is_not_there(user: User, night: str) -> None:
    queued(user, "day", "kueue")
    told = f"there is no queue day in namespace {user.namespace}: there is {night}"
    assert told in user.run("status", "fit").stdout


def test_status_tells_why_a_gang_of_volcano_does_not_start(user: User, ads: str) -> None:
    queued(user, ads, "volcano")
    path = f"{VOLCANO}/namespaces/{user.namespace}/podgroups"
    (group,) = user.plane.request("GET", path)["items"]
    shown = user.run("status", "fit").stdout
    assert f"waits in its queue (queue {ads})" in shown
    message = "2/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; "
    group["status"] = {
        "phase": "Inqueue",
        "conditions": [
            {
                "type": "Unschedulable",
                "status": "True",
                "reason": "NotEnoughResources",
                "message": f"{message}Pending: 2 Schedulable, 2 Unschedulable",
                "transitionID": "x",
            }
        ],
    }
    user.plane.request("PUT", f"{path}/{group['metadata']['name']}", group)
    shown = user.run("status", "fit").stdout
    told = "not all of its pods fit at the same time: 2 would fit alone, 2 fit on no node"
    assert f"{told} (queue {ads})" in shown
