"""Whether a job fits: quotas, limit ranges, queues and nodes as pure values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml

from paddlespec.backends.cluster.place.queues import _of_kueue
from paddlespec.capacity import quota
from paddlespec.capacity.holding import is_device, of_nodes
from paddlespec.capacity.limit import Limit, defaulted
from paddlespec.capacity.limit import line_with_need as within
from paddlespec.capacity.line import (
    Line,
    Unknown,
    verdict,
    with_need,
)
from paddlespec.capacity.need import Group, Need, need
from paddlespec.capacity.node import Node
from paddlespec.capacity.placement import placed
from paddlespec.capacity.queue import STOPPED, Queue, Share
from paddlespec.capacity.queue import lines_with_need as admitted
from paddlespec.capacity.quota import Quota, Scope
from paddlespec.capacity.room import Room, lines_with_need
from paddlespec.capacity.storage import Claim
from paddlespec.quantity import as_amount, as_short, quantity

GI = 1024**3
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: fit-trainers
  labels: {paddlespec.io/role: trainers, kueue.x-k8s.io/queue-name: night}
spec:
  parallelism: 3
  template:
    spec:
      containers: [{name: c, resources: {limits: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 1}}}]
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: gold, resources: {requests: {storage: 5Gi}}}
"""
GROUP = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {}, spec: {}}"


def amounts(**listed: Any) -> dict[str, Decimal]:
    return {name: quantity(str(amount)) for name, amount in listed.items()}


def pod(text: str = "{}", **spec: str) -> dict[str, Any]:
    container = {"name": "c", "resources": yaml.safe_load(text)}
    return {
        "containers": [container],
        **{key: yaml.safe_load(value) for key, value in spec.items()},
    }


def group(text: str, replicas: int = 1, **spec: str) -> Group:
    return Group("trainers", replicas, pod(text, **spec))


def node(name: str = "n", labels: str = "{}", taints: str = "[]", **allocatable: Any) -> Node:
    free = amounts(**{"pods": 10, **allocatable})
    return Node(
        name, True, True, yaml.safe_load(labels), tuple(yaml.safe_load(taints)), free, free, {}
    )


def plain(*values: object) -> list[object]:
    return list(values)


def test_a_need_beyond_what_is_free_is_short() -> None:
    line = Line("quota", "q", "cpu", Decimal(3), Decimal(4), Decimal(1))
    assert with_need(line, Decimal(1)).fits is True
    compared = with_need(line, Decimal("1.5"))
    assert (compared.fits, compared.short) == (False, Decimal("0.5"))


def test_a_need_of_zero_fits_an_exceeded_limit() -> None:
    full = Line("quota", "q", "cpu", Decimal(5), Decimal(4), Decimal(0))
    assert with_need(full, Decimal(0)).fits is True


def test_an_unknown_limit_has_no_verdict() -> None:
    yes, no, unknown = (Line("k", "n", "r", fits=fits) for fits in (True, False, None))
    assert verdict([yes, unknown]) is None
    assert verdict([unknown, no, yes]) is False
    assert verdict([]) is True
    assert with_need(unknown, Decimal(1)).fits is None


def test_a_job_needs_pods_objects_and_what_apply_adds() -> None:
    needed = need([yaml.safe_load(text) for text in (JOB, CLAIM)])
    assert [(group.role, group.replicas, group.queue) for group in needed.groups] == [
        ("trainers", 3, "night")
    ]
    charged = quota.charges(needed)
    assert charged["requests.cpu"] == charged["cpu"] == charged["limits.cpu"] == 6
    assert charged["requests.nvidia.com/gpu"] == charged["pods"] == 3
    assert "nvidia.com/gpu" not in charged
    assert charged["count/jobs.batch"] == charged["configmaps"] == 1
    assert charged["requests.storage"] == 5 * GI
    assert charged["gold.storageclass.storage.k8s.io/requests.storage"] == 5 * GI
    assert charged["gold.storageclass.storage.k8s.io/persistentvolumeclaims"] == 1


def test_a_pod_group_needs_a_queue_of_volcano() -> None:
    assert need([yaml.safe_load(GROUP)]).queue == "default"
    assert need([]).queue is None


@pytest.mark.parametrize(
    ("scope", "spec", "is_counted"),
    [
        (Scope("BestEffort"), pod(), True),
        (Scope("NotBestEffort"), pod(), False),
        (Scope("NotBestEffort"), pod("{limits: {cpu: 1}}"), True),
        (Scope("Terminating"), pod(), False),
        (Scope("Terminating"), pod(activeDeadlineSeconds="5"), True),
        (Scope("NotTerminating"), pod(), True),
        (Scope("PriorityClass", "In", ("high",)), pod(priorityClassName="high"), True),
        (Scope("PriorityClass", "NotIn", ("high",)), pod(priorityClassName="high"), False),
        (Scope("PriorityClass", "Exists"), pod(), False),
        (Scope("PriorityClass", "DoesNotExist"), pod(), True),
        (Scope("CrossNamespacePodAffinity"), pod(), False),
        (
            Scope("CrossNamespacePodAffinity"),
            pod(affinity="{podAffinity: {x: [{namespaces: [ads]}]}}"),
            True,
        ),
        (Scope("SomethingNew"), pod(), True),
    ],
)
def test_a_scope_selects_pods(scope: Scope, spec: dict[str, Any], is_counted: bool) -> None:
    assert quota.counts(scope, spec) is is_counted


def test_a_quota_with_a_scope_counts_no_objects() -> None:
    needed = need([yaml.safe_load(text) for text in (JOB, CLAIM)])
    assert "requests.storage" not in quota.charges(needed, [Scope("NotBestEffort")])
    assert quota.charges(needed, [Scope("BestEffort")]) == {}


def test_containers_must_set_what_a_quota_counts() -> None:
    own = Quota("ns", "q", amounts(**{"limits.cpu": 9}), {})
    (line,) = quota.lines_with_need(own, Need((group("{requests: {cpu: 1}}"),), ()))
    assert (line.fits, line.reason) == (False, "every container must set limits.cpu")
    (line,) = quota.lines_with_need(own, Need((group("{limits: {cpu: 1}}"),), ()))
    assert line.fits is True


def test_violations_of_a_limit_range() -> None:
    limit = Limit("ns", "own", "Container", "cpu", least=Decimal("0.5"), most=Decimal(2))

    def verdict_of(text: str) -> tuple[bool | None, str | None]:
        line = within(limit, Need((group(text),), ()))
        return line.fits, line.reason

    assert verdict_of("{limits: {cpu: 1}}") == (True, "minimum 0.5")
    assert verdict_of("{limits: {cpu: 3}}") == (False, "above the maximum")
    assert verdict_of("{limits: {cpu: 1}, requests: {cpu: 100m}}") == (False, "below the minimum")
    assert verdict_of("{}") == (False, "must set a request, must set a limit")
    assert verdict_of("{requests: {cpu: 1}}") == (False, "must set a limit")
    line = within(limit, Need((group("{limits: {cpu: 3}}"),), ()))
    assert plain(line.need, line.short) == [3, 1]


def test_a_limit_range_limits_the_size_of_claims() -> None:
    limit = Limit("ns", "own", "PersistentVolumeClaim", "storage", most=Decimal(4 * GI))
    line = within(limit, need([yaml.safe_load(CLAIM)]))
    assert plain(line.fits, line.short) == [False, GI]


def test_containers_get_the_defaults_of_limit_ranges() -> None:
    limit = Limit("ns", "o", "Container", "cpu", default=Decimal(2), default_request=Decimal(1))

    def resources(text: str) -> Any:
        return defaulted(pod(text), [limit])["containers"][0]["resources"]

    assert resources("{}") == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
    # A limit of one's own is a request as well.
    assert resources("{limits: {cpu: 3}}") == {"limits": {"cpu": 3}, "requests": {"cpu": 3}}
    assert defaulted(pod("{}"), [limit._replace(type="Pod")]) == pod("{requests: {}, limits: {}}")


QUEUE = Queue(
    "kueue",
    "night",
    "ns",
    "cluster",
    shares=(
        Share("cpu", Decimal(3), Decimal(1), "spot"),
        Share("cpu", Decimal(9), Decimal(5), "reserved"),
    ),
)


def lines_of(queue: Queue, *replicas: int) -> dict[str, Line]:
    groups = [group("{limits: {cpu: 1}}", count)._replace(queue="night") for count in replicas]
    return {line.name: line for line in admitted([queue], Need(tuple(groups), ()), "ns")}


def test_identical_pods_share_a_flavor() -> None:
    lines = lines_of(QUEUE, 2, 3)
    assert plain(*(line.need for line in lines.values())) == [2, 3]
    assert verdict(lines.values()) is True
    lines = lines_of(QUEUE, 5)
    assert plain(lines["night/spot"].short, verdict(lines.values())) == [3, False]


@pytest.mark.parametrize(("lent", "fits"), [(None, None), (Decimal(2), None), (Decimal(1), False)])
def test_a_cohort_may_lend(lent: Decimal | None, fits: bool | None) -> None:
    shares = (Share("cpu", Decimal(3), Decimal(0), "spot", lent=lent),)
    queue = QUEUE._replace(shares=shares, cohort="all")
    assert verdict(lines_of(queue, 5).values()) is fits
    assert verdict(lines_of(queue._replace(cohort=None), 5).values()) is False


def test_a_resource_that_no_flavor_has_is_never_admitted() -> None:
    own = group("{limits: {cpu: 1, nvidia.com/gpu: 1}}")._replace(queue="night")
    lines = admitted([QUEUE], Need((own,), ()), "ns")
    (line,) = [line for line in lines if line.resource == "nvidia.com/gpu"]
    assert (line.fits, line.reason) == (False, "the queue has no nvidia.com/gpu")


def test_a_queue_of_another_namespace_does_not_exist() -> None:
    own = group("{limits: {cpu: 1}}")._replace(queue="night")
    (line,) = admitted([QUEUE], Need((own,), ()), "other")
    assert line.fits is False
    stopped = QUEUE._replace(state=STOPPED, reason="held")
    assert lines_of(stopped, 1)["night"].reason == "queue is stopped: held"


def test_unreadable_queues_do_not_matter_to_a_job_without_one() -> None:
    own = group("{limits: {cpu: 1}}")
    hidden = Room(
        "ns", unknown=(Unknown("kueue", "you may not"), Unknown("volcano", "you may not"))
    )
    assert verdict(lines_with_need(hidden, Need((own,), ()))) is True
    (line,) = lines_with_need(hidden, Need((own._replace(queue="night"),), ()))
    assert (line.fits, line.name) == (None, "night")
    (line,) = lines_with_need(
        Room("ns", unknown=(Unknown("quota", "you may not"),)), Need((own,), ())
    )
    assert (line.fits, line.reason) == (None, "unknown: you may not")


def test_the_older_field_for_a_cohort_in_kueue() -> None:
    spec: dict[str, Any] = {"cohort": "all", "resourceGroups": []}
    cluster = {"kind": "ClusterQueue", "metadata": {"name": "c"}, "spec": spec}
    local = {"metadata": {"name": "l", "namespace": "ns"}, "spec": {"clusterQueue": "c"}}
    (queue,) = _of_kueue([{"kind": "LocalQueue", **local}], [cluster])
    assert queue.cohort == "all"
    (queue,) = _of_kueue([{"kind": "LocalQueue", **local}], [])
    assert (queue.state, queue.reason) == (STOPPED, "cluster queue c does not exist")


def test_pods_fill_one_node_after_another() -> None:
    nodes = [node("a", cpu=5, memory="8Gi"), node("b", cpu=3, memory="1Gi")]
    trainers = group("{limits: {cpu: 2, memory: 1Gi}}", 4)
    pservers = Group("pservers", 1, pod("{limits: {cpu: 1}}"))
    first, second = placed([trainers, pservers], nodes)
    assert plain(first.need, first.free, first.short, first.fits) == [4, 3, 1, False]
    assert first.reason == "of 2 nodes: 2 short of cpu, 1 short of memory"
    assert second.fits is True


def test_a_node_accepts_one_replica_with_a_host_port() -> None:
    trainers = group("{}", 3)
    trainers.pod["containers"][0]["ports"] = [{"containerPort": 6768, "hostPort": 6768}]
    (line,) = placed([trainers], [node("a"), node("b")])
    assert plain(line.need, line.free, line.short) == [3, 2, 1]
    reason = "2 taken by another replica with the same host ports"
    assert line.reason == f"of 2 nodes: {reason}"


def test_a_node_accepts_no_more_pods_than_its_limit() -> None:
    (line,) = placed([group("{}", 4)], [node(pods=3, cpu=1)])
    assert plain(line.short, line.reason) == [1, "of 1 node: 1 short of pods"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"nodeSelector": "{zone: a}"}, None),
        ({"nodeSelector": "{zone: b}"}, "not matching nodeSelector"),
        ({"tolerations": "[{key: other, operator: Exists}]"}, "tainted gpus"),
        ({"tolerations": "[{key: gpus, value: no}]"}, "tainted gpus"),
        ({"tolerations": "[{key: gpus, operator: Exists, effect: NoExecute}]"}, "tainted gpus"),
        *(
            ({"affinity": f"{{key: {key}, operator: {operator}, values: {values}}}"}, reason)
            for key, operator, values, reason in [
                ("zone", "In", "[a, b]", None),
                ("zone", "NotIn", "[a]", "not matching node affinity"),
                ("zone", "Exists", "[]", None),
                ("zone", "DoesNotExist", "[]", "not matching node affinity"),
                ("disks", "Gt", "['3']", None),
                ("disks", "Lt", "['3']", "not matching node affinity"),
                ("zone", "Gt", "['3']", "not matching node affinity"),
            ]
        ),
    ],
)
def test_a_node_rejects_pods_that_do_not_match(spec: dict[str, str], reason: str | None) -> None:
    if "affinity" in spec:
        required = f"{{nodeSelectorTerms: [{{matchExpressions: [{spec['affinity']}]}}]}}"
        key = "requiredDuringSchedulingIgnoredDuringExecution"
        spec = {"affinity": f"{{nodeAffinity: {{{key}: {required}}}}}"}
    tolerated = {"tolerations": "[{key: gpus, value: 'yes'}]", **spec}
    taints = "[{key: gpus, value: 'yes', effect: NoSchedule}, {key: x, effect: PreferNoSchedule}]"
    own = node(labels="{zone: a, disks: '4'}", taints=taints, cpu=1)
    (line,) = placed([group("{}", 1, **tolerated)], [own])
    assert line.reason == (reason and f"of 1 node: 1 {reason}")


def test_nothing_is_placed_on_unavailable_nodes() -> None:
    down, cordoned = node("a")._replace(ready=False), node("b")._replace(schedulable=False)
    (line,) = placed([group("{}")], [down, cordoned])
    assert line.reason == "of 2 nodes: 1 cordoned, 1 not ready"
    (line,) = placed([group("{}")], [])
    assert line.reason == "the cluster has no nodes"


def test_resources_of_a_cordoned_node_are_not_free() -> None:
    nodes = [node("a", cpu=4, memory="1Gi"), node("b", cpu=2)._replace(schedulable=False)]
    cpu = [holding for holding in of_nodes(nodes) if holding.resource == "cpu"]
    assert [plain(holding.kind, holding.allocatable, holding.free) for holding in cpu] == [
        ["total", 6, 4],
        ["node", 4, 4],
        ["node", 2, 0],
    ]
    cpu = [
        holding for holding in of_nodes(nodes[:1], is_counted=False) if holding.resource == "cpu"
    ]
    assert [(holding.used, holding.free) for holding in cpu] == [(None, None)] * 2


def test_devices_are_distinguished_from_resources_of_kubernetes() -> None:
    assert [
        is_device(name) for name in ("nvidia.com/gpu", "cpu", "scheduling.kubernetes.io/x")
    ] == [
        *(True, False, False),
    ]


def test_access_modes_are_abbreviated_as_by_kubectl() -> None:
    claim = Claim("ns", "c", "Bound", None, ("ReadWriteOnce", "New"), None, None)
    assert claim.short_modes == "RWO,New"


@pytest.mark.parametrize(
    ("resource", "amount", "exact", "short"),
    [
        ("cpu", "1500m", "1.5", "1.5"),
        ("requests.memory", "18980Mi", "18980Mi", "18.5Gi"),
        ("limits.memory", "64Gi", "64Gi", "64Gi"),
        ("memory", "131924996Ki", "131924996Ki", "125.8Gi"),
        ("gold.storageclass.storage.k8s.io/requests.storage", "1Ti", "1Ti", "1Ti"),
        ("hugepages-2Mi", "4Mi", "4Mi", "4Mi"),
        ("pods", "110", "110", "110"),
        ("cpu", "123456789n", "0.123456789", "0.12"),
        ("memory", "0", "0", "0"),
    ],
)
def test_amounts_are_exact_for_programs_and_short_for_people(
    resource: str, amount: str, exact: str, short: str
) -> None:
    assert as_amount(resource, quantity(amount)) == exact
    assert as_short(resource, quantity(amount)) == short
