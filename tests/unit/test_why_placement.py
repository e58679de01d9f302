"""Why a pod fits on no node."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import Recorded, evidence, pod

from paddlespec.backends.cluster.why.placement import as_the_scheduler_says, fits_nowhere
from paddlespec.backends.cluster.why.scheduler import summary

SCHEDULED = (
    'conditions: [{type: PodScheduled, status: "False", reason: Unschedulable,'
    ' message: "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available:'
    ' 3 No preemption victims found for incoming pod."}]'
)


def node(
    name: str,
    *,
    labels: str = "{}",
    spec: str = "{}",
    ready: str = "True",
    allocatable: str = '{cpu: "8", memory: 32Gi, pods: "110"}',
) -> str:
    return f"""---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {labels}}}
spec: {spec}
status:
  allocatable: {allocatable}
  conditions: [{{type: Ready, status: "{ready}"}}]
"""


def holder(node: str, requests: str) -> str:
    """A pod that already runs on the node."""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: other}}
spec: {{nodeName: {node}, containers: [{{name: a, resources: {{requests: {requests}}}}}]}}
"""


def waiting(requests: str = "{cpu: 1}", **fields: str) -> dict[str, Any]:
    containers = f"[{{name: paddle, resources: {{requests: {requests}}}}}]"
    return pod(SCHEDULED, spec__containers=containers, **fields)


def reason_of(nodes: str, waiting_pod: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    reason = fits_nowhere(evidence(waiting_pod, ask=Recorded(nodes)))
    assert reason is not None
    prefix = "fits on no node: "
    assert reason.sentence.startswith(prefix)
    return reason.sentence.removeprefix(prefix), reason.evidence


# Resources.


def test_a_request_larger_than_any_node() -> None:
    assert reason_of(node("n1") + node("n2"), waiting("{cpu: 4000}")) == (
        "requests 4000 cpu, but the largest node has 8",
        ("n1: 8 of 8 cpu free, 3992 short", "n2: 8 of 8 cpu free, 3992 short"),
    )


def test_a_request_larger_than_what_is_free() -> None:
    nodes = node("n1") + node("n2") + holder("n1", "{cpu: 7500m}") + holder("n2", "{cpu: 7}")
    assert reason_of(nodes, waiting("{cpu: 2}")) == (
        "requests 2 cpu, but no node has more than 1 free right now",
        ("n1: 0.5 of 8 cpu free, 1.5 short", "n2: 1 of 8 cpu free, 1 short"),
    )


def test_memory_is_rounded() -> None:
    nodes = node("n1", allocatable='{cpu: "8", memory: 31173840Ki, pods: "110"}')
    assert reason_of(nodes, waiting("{memory: 64Gi}")) == (
        "requests 64Gi memory, but the largest node has 29.7Gi",
        ("n1: 29.7Gi of 29.7Gi memory free, 34.2Gi short",),
    )


def test_a_device_that_no_node_has() -> None:
    assert reason_of(node("n1"), waiting("{nvidia.com/gpu: 8}"))[0] == (
        "requests 8 nvidia.com/gpu, but no eligible node has any"
    )


def test_a_permanent_shortage_is_reported_before_a_temporary_one() -> None:
    nodes = node("n1") + holder("n1", "{cpu: 8}")
    assert reason_of(nodes, waiting("{cpu: 1, memory: 1Ti}"))[0].startswith("requests 1Ti memory")


def test_nodes_are_short_of_different_resources() -> None:
    nodes = node("n1") + node("n2") + holder("n1", "{cpu: 8}") + holder("n2", "{memory: 32Gi}")
    assert reason_of(nodes, waiting("{cpu: 1, memory: 1Gi}"))[0] == (
        "every node is short of a resource: n1 of cpu; n2 of memory"
    )


def test_the_number_of_pods_is_a_resource() -> None:
    nodes = node("n1", allocatable='{cpu: "8", pods: "1"}') + holder("n1", "{}")
    assert reason_of(nodes, waiting())[0].startswith(
        "requests 1 pod, but no node has any free right now"
    )


def test_only_a_few_of_many_nodes_are_listed() -> None:
    nodes = "".join(node(f"n{index}") for index in range(9))
    assert reason_of(nodes, waiting("{cpu: 9}"))[1][-1] == "and 5 more"


# Labels.


def test_a_label_that_no_node_has() -> None:
    nodes = node("n1", labels="{zone: a}") + node("n2")
    assert reason_of(nodes, waiting(spec__nodeSelector="{zone: b}")) == (
        "no node has the label zone=b",
        ("n1: has no label zone=b", "n2: has no label zone=b"),
    )


def test_labels_that_no_node_has_together() -> None:
    nodes = node("n1", labels="{zone: a}") + node("n2", labels="{gpu: a100}")
    reason = reason_of(nodes, waiting(spec__nodeSelector="{zone: a, gpu: a100}"))
    assert reason[0] == "no node has all the labels zone=a, gpu=a100"


TERM = (
    "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "{nodeSelectorTerms: [{matchExpressions: [EXPRESSION]}]}}}"
)


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("{key: zone, operator: In, values: [a, b]}", True),
        ("{key: zone, operator: In, values: [c]}", False),
        ("{key: zone, operator: NotIn, values: [a]}", False),
        ("{key: absent, operator: NotIn, values: [a]}", True),
        ("{key: zone, operator: Exists}", True),
        ("{key: absent, operator: Exists}", False),
        ("{key: zone, operator: DoesNotExist}", False),
        ('{key: generation, operator: Gt, values: ["3"]}', True),
        ('{key: generation, operator: Lt, values: ["3"]}', False),
        ('{key: zone, operator: Gt, values: ["3"]}', False),
    ],
)
def test_an_affinity_is_evaluated_as_by_the_scheduler(expression: str, matches: bool) -> None:
    nodes = node("n1", labels='{zone: a, generation: "4"}')
    waiting_pod = waiting(spec__affinity=TERM.replace("EXPRESSION", expression))
    reason = fits_nowhere(evidence(waiting_pod, ask=Recorded(nodes)))
    assert (reason is None) is matches
    if reason is not None:
        assert reason.sentence.startswith("fits on no node: no node matches the node affinity: ")


def test_an_affinity_is_described() -> None:
    expression = "{key: zone, operator: In, values: [b, c]}, {key: gpu, operator: Exists}"
    waiting_pod = waiting(spec__affinity=TERM.replace("EXPRESSION", expression))
    assert reason_of(node("n1"), waiting_pod)[0].endswith("zone In (b, c) and gpu Exists")


# Unavailable nodes.


def test_nodes_that_are_down_or_cordoned() -> None:
    nodes = node("n1", ready="Unknown") + node("n2", spec="{unschedulable: true}")
    assert reason_of(nodes, waiting()) == (
        "all 2 eligible nodes are cordoned or not ready",
        ("n1: is not ready", "n2: is cordoned"),
    )


def test_the_only_node_that_has_the_label_is_cordoned() -> None:
    nodes = node("n1", labels="{zone: a}", spec="{unschedulable: true}") + node("n2")
    reason = reason_of(nodes, waiting(spec__nodeSelector="{zone: a}"))
    assert reason[0] == "the only eligible node, n1, is cordoned"
    assert reason[1] == ("n1: is cordoned", "n2: has no label zone=a")


# Taints.

GPU = "{taints: [{key: gpu, value: a100, effect: NoSchedule}]}"


@pytest.mark.parametrize(
    ("tolerations", "tolerated"),
    [
        ("[]", False),
        ("[{key: gpu, value: a100, effect: NoSchedule}]", True),
        ("[{key: gpu, value: h100}]", False),
        ("[{key: gpu, operator: Exists}]", True),
        ("[{operator: Exists}]", True),
        ("[{operator: Exists, effect: NoExecute}]", False),
        ("[{key: other, operator: Exists}]", False),
    ],
)
def test_a_taint_is_evaluated_as_by_the_scheduler(tolerations: str, tolerated: bool) -> None:
    waiting_pod = waiting(spec__tolerations=tolerations)
    reason = fits_nowhere(evidence(waiting_pod, ask=Recorded(node("n1", spec=GPU))))
    assert (reason is None) is tolerated
    if reason is not None:
        assert reason == (
            (
                "fits on no node: no toleration for the taint gpu=a100:NoSchedule on the only "
                "eligible node"
            ),
            ("n1: has the taint gpu=a100:NoSchedule",),
        )


def test_a_preference_taint_is_no_obstacle() -> None:
    nodes = node("n1", spec="{taints: [{key: a, effect: PreferNoSchedule}]}")
    assert fits_nowhere(evidence(waiting(), ask=Recorded(nodes))) is None


# Without the right to read nodes.


def test_without_the_right_to_read_nodes_the_scheduler_message_is_shown() -> None:
    asked = evidence(waiting("{cpu: 4000}"))
    assert fits_nowhere(asked) is None
    reason = as_the_scheduler_says(asked)
    sentence = "fits on no node: 0/3 nodes are available: 3 Insufficient cpu"
    assert reason == (sentence, ())


def test_a_pod_without_an_obstacle_is_not_explained() -> None:
    ask = Recorded(node("n1"))
    young = pod('conditions: [{type: PodScheduled, status: "True"}]')
    gated = pod('conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]')
    for waiting_pod in (young, gated):
        assert fits_nowhere(evidence(waiting_pod, ask=ask)) is None
        assert as_the_scheduler_says(evidence(waiting_pod, ask=ask)) is None
    assert not ask.asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "0/4 nodes are available: 1 node(s) had untolerated taint "
                "{node-role.kubernetes.io/control-plane: }, 3 Insufficient nvidia.com/gpu. "
                "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
            ),
            (
                "0/4 nodes are available: 1 node(s) had untolerated taint "
                "{node-role.kubernetes.io/control-plane: }, 3 Insufficient nvidia.com/gpu"
            ),
        ),
        (
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            '0/3 nodes are available: persistentvolumeclaim "data" not found.',
            '0/3 nodes are available: persistentvolumeclaim "data" not found',
        ),
        ("0/2 nodes are available:\n2 Too many pods", "0/2 nodes are available: 2 Too many pods"),
        (
            "0/2 nodes are available: 2 Insufficient cpu. preemption: 1 Insufficient memory.",
            "0/2 nodes are available: 2 Insufficient cpu",
        ),
        ("0/4 nodes are available: canary sings", "0/4 nodes are available"),
        ("a plugin says canary", None),
        (None, None),
    ],
)
def test_only_known_parts_of_the_scheduler_message_are_shown(
    text: str, expected: str | None
) -> None:
    assert summary(text) == expected
