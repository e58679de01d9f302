"""The free resources of nodes, counted as by the scheduler."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import yaml

from paddlespec.backends.cluster.place.nodes import counted
from paddlespec.capacity.demand import demand

NODE = """\
metadata: {name: n1, labels: {zone: a}}
spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}
status:
  capacity: {cpu: "8", memory: 32Gi, nvidia.com/gpu: "4", pods: "110"}
  allocatable: {cpu: 7500m, memory: 30Gi, nvidia.com/gpu: "4", pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""


def pod(containers: str, node: str | None = "n1", **spec: str) -> dict[str, Any]:
    pod = {"containers": yaml.safe_load(containers)}
    pod |= {key: yaml.safe_load(value) for key, value in spec.items()}
    return {"metadata": {"name": "p"}, "spec": pod | ({"nodeName": node} if node else {})}


def test_requested_resources_are_not_free() -> None:
    pods = [
        pod("[{resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}}]"),
        pod("[{resources: {requests: {cpu: 2}}}, {resources: {requests: {cpu: 1}}}]"),
        pod("[{resources: {requests: {cpu: 4}}}]", node=None),
        pod("[{resources: {requests: {cpu: 4}}}]", node="n2"),
    ]
    (node,) = counted([yaml.safe_load(NODE)], pods)
    assert node.used == {
        "cpu": Decimal("3.5"),
        "memory": 1024**3,
        "nvidia.com/gpu": 1,
        "pods": 2,
    }
    assert node.free == {
        "cpu": 4,
        "memory": 29 * 1024**3,
        "nvidia.com/gpu": 3,
        "pods": 108,
    }
    assert (node.ready, node.schedulable, node.labels) == (True, True, {"zone": "a"})
    assert node.capacity["cpu"] == 8
    assert node.taints[0]["key"] == "nvidia.com/gpu"


def test_an_overcommitted_node_has_nothing_free() -> None:
    (node,) = counted([yaml.safe_load(NODE)], [pod("[{resources: {requests: {cpu: 9}}}]")])
    assert node.free["cpu"] == 0


def test_an_init_container_counts_if_it_requests_more() -> None:
    spec = pod(
        "[{resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        initContainers="[{resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 2}}}]",
        overhead="{cpu: 250m}",
    )["spec"]
    assert demand(spec) == {"cpu": Decimal("3.25"), "memory": 1024**3}


def test_a_sidecar_adds_to_later_containers() -> None:
    spec = pod(
        "[{resources: {requests: {cpu: 1}}}]",
        initContainers="[{resources: {requests: {cpu: 3}}},"
        " {restartPolicy: Always, resources: {requests: {cpu: 1}}},"
        " {resources: {requests: {cpu: 2500m}}}]",
    )["spec"]
    assert demand(spec)["cpu"] == Decimal("3.5")


def test_a_node_that_is_not_ready_or_is_cordoned() -> None:
    cordoned = yaml.safe_load("{metadata: {name: b}, spec: {unschedulable: true}}")
    down = yaml.safe_load(
        "{metadata: {name: a}, status: {conditions: [{type: Ready, status: Unknown}]}}"
    )
    first, second = counted([cordoned, down], [])
    assert (first.name, first.ready, first.schedulable) == ("a", False, True)
    assert (second.name, second.schedulable) == ("b", False)
