"""`get queues` and what they admit: the real Kueue, and the kinds that Volcano defines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import kueue
import pytest
from user import PS, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane

VOLCANO = "/apis/scheduling.volcano.sh/v1beta1"
QUEUED = "  scheduling: {scheduler: SCHEDULER, queue: QUEUE}\n"
SPEC: dict[str, Any] = {
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


@pytest.fixture
def user(
    control_plane: ControlPlane,
    namespace: str,
    tmp_path: Path,
    controllers: Callable[..., None],
    extensions: Callable[..., None],
) -> User:
    controllers("kueue")
    extensions("volcano")
    return User.admin(control_plane, namespace, tmp_path)


def put(user: User, path: str, manifest: dict[str, Any], status: dict[str, Any]) -> None:
    """Create an object, and write the status that a controller would."""
    live = user.plane.request("POST", path, manifest)
    live["status"] = status
    user.plane.request("PUT", f"{path}/{manifest['metadata']['name']}/status", live)


@pytest.fixture
def night(user: User) -> Iterator[str]:
    """A queue with two flavors, where two jobs run and three wait."""
    cohort = {"cohortName": user.namespace}
    with kueue.quota(user, {**SPEC, **cohort}) as name:
        kueue.submit(user, "small", pods=1, cpu="1500m", run_for="1h")
        user.plane.eventually(lambda: user.phases("small") == ["Running"])
        kueue.submit(user, "large", pods=2, cpu="3", run_for="1h")
        for number in range(3):
            kueue.submit(user, f"huge-{number}", cpu="20")
        user.plane.eventually(lambda: counts(user, name) == (3, 2, 2))
        yield name


def counts(user: User, name: str) -> tuple[int, ...]:
    """Return how many workloads of a local queue are waiting, running, and have their quota."""
    status = user.get("localqueues", name)["status"]
    return tuple(status[f"{state}Workloads"] for state in ("pending", "admitted", "reserving"))


@pytest.fixture
def ads(user: User) -> Iterator[str]:
    """A queue of Volcano, which belongs to no namespace."""
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


def by_name(data: Any) -> dict[tuple[str, str | None], Any]:
    return {(line["name"], line["resource"]): line for line in data["lines"]}


def test_a_local_queue_shows_what_its_cluster_queue_has(user: User, night: str) -> None:
    output = json.loads(user.run("get", "queues", "-o", "json").stdout)
    assert output["kueue"] == "kueue.x-k8s.io/v1beta2"
    (queue,) = [queue for queue in output["queues"] if queue["scheduler"] == "kueue"]
    assert (queue["name"], queue["clusterQueue"], queue["cohort"]) == (
        *(night, user.namespace, user.namespace),
    )
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
        [holding["name"], holding["allocatable"], holding["used"], holding["free"]]
        for holding in held
        if holding["kind"] == "queue" and holding["resource"] == "cpu"
    ] == [["night/spot", "3", "1.5", "1.5"], ["night/reserved", "10", "6", "4"]]
    table = user.run("get", "queues", "-A").stdout.splitlines()
    assert table[0].split()[:4] == ["NAMESPACE", "NAME", "SCHEDULER", "STATE"]
    assert any(line.split()[:2] == [user.namespace, night] for line in table)


def test_a_queue_of_volcano_shows_its_bounds_and_what_is_allocated(user: User, ads: str) -> None:
    output = json.loads(user.run("get", "queues", "-o", "json").stdout)
    (queue,) = [queue for queue in output["queues"] if queue["name"] == ads]
    assert (queue["state"], queue["weight"], queue["pending"], queue["running"]) == (
        *("active", 2, 1, 4),
    )
    assert [(share["resource"], share["quota"], share["used"]) for share in queue["resources"]] == [
        ("cpu", "6", "1.5"),
        ("memory", None, "2Gi"),
        ("nvidia.com/gpu", "8", "0"),
    ]


def test_roles_take_the_first_flavor_that_holds_them(user: User, night: str) -> None:
    # Two pservers need 2 cores, of which `spot` has 1.5: both roles go to `reserved`, which has 4.
    output = asked(user, night, "kueue", code=0)
    lines = by_name(output)
    assert output["fits"] is True
    assert lines["night/spot", "cpu"]["need"] == "0"
    assert (lines["night/reserved", "cpu"]["need"], lines["night/reserved", "memory"]["need"]) == (
        *("4", "4Gi"),
    )


def test_what_is_short_may_be_borrowed_of_the_cohort_up_to_its_limit(
    user: User, night: str
) -> None:
    one = ("-u", "pservers.replicas=1")
    output = asked(user, night, "kueue", "-u", "trainers.replicas=5", *one, code=0)
    line = by_name(output)["night/reserved", "cpu"]
    assert (output["fits"], line["short"], line["fits"]) == (None, "1", None)
    assert line["reason"] == f"the rest must be borrowed from cohort {user.namespace}"
    output = asked(user, night, "kueue", "-u", "trainers.replicas=7", *one, code=3)
    assert (output["fits"], by_name(output)["night/spot", "cpu"]["short"]) == (False, "5.5")


def test_a_queue_that_is_stopped_or_absent_admits_nothing(user: User, night: str) -> None:
    output = asked(user, "day", "kueue", code=3)
    assert by_name(output)["day", None]["reason"] == "queue day does not exist"
    kueue.stop(user, "Hold")
    output = asked(user, night, "kueue", code=3)
    reason = by_name(output)[night, None]["reason"]
    assert reason == f"queue is stopped: stopPolicy of ClusterQueue {user.namespace} is Hold"


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
    output = asked(alice, night, "kueue", code=0)
    assert output["fits"] is None
    assert by_name(output)[night, None]["fits"] is None


def test_a_queue_that_nobody_may_list_is_not_said_to_be_absent(user: User, night: str) -> None:
    kubeconfig = user.plane.kubeconfig_for("nobody", user.namespace)
    output = asked(user._replace(kubeconfig=kubeconfig), night, "kueue", code=0)
    assert output["fits"] is None
    assert by_name(output)[night, None]["reason"] == "unknown: you may not list queues"


def test_a_namespace_without_queues_says_which_scheduler_there_is(user: User) -> None:
    user.plane.eventually(lambda: not user.plane.request("GET", f"{VOLCANO}/queues")["items"])
    message = user.run("get", "queues").stderr
    assert message == f"no queues of kueue or volcano in namespace {user.namespace}\n"


def test_status_tells_why_a_gang_of_volcano_does_not_start(user: User, ads: str) -> None:
    gang = QUEUED.replace("SCHEDULER", "volcano").replace("QUEUE", ads)
    nowhere = ("-u", "trainers.nodeSelector.pool=none")
    user.run("apply", user.write(PS.replace("NAME", "fit") + gang), *nowhere)
    path = f"{VOLCANO}/namespaces/{user.namespace}/podgroups"
    (group,) = user.plane.request("GET", path)["items"]
    shown = user.run("status", "fit").stdout
    assert f"waiting in its queue (queue {ads})" in shown
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
    text = "its pods do not all fit at the same time: 2 would fit on their own, 2 fit on no node"
    assert f"{text} (queue {ads})" in shown
