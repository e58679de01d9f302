"""Why a pod fits on no node."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import Recorded, evidence, pod

from paddlespec.cluster.why.placement import as_the_scheduler_says, fits_nowhere
from paddlespec.cluster.why.scheduler import summary

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
    """A pod that is there already."""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: other}}
spec: {{nodeName: {node}, containers: [{{name: a, resources: {{requests: {requests}}}}}]}}
"""


def waiting(requests: str = "{cpu: 1}", **fields: str) -> dict[str, Any]:
    containers = f"[{{name: paddle, resources: {{requests: {requests}}}}}]"
    return pod(SCHEDULED, spec__containers=containers, **fields)


def told(nodes: str, found: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    reason = fits_nowhere(evidence(found, ask=Recorded(nodes)))
    assert reason is not None
    prefix = "fits on no node: "
    assert reason.sentence.startswith(prefix)
    return reason.sentence.removeprefix(prefix), reason.evidence


# Room.


def test_more_than_any_node_has() -> None:
    assert told(node("n1") + node("n2"), waiting("{cpu: 4000}")) == (
        "asks for 4000 cpu, and the largest node has 8",
        ("n1: 8 of 8 cpu are free, 3992 short", "n2: 8 of 8 cpu are free, 3992 short"),
    )


def test_more_than_others_leave() -> None:
    nodes = node("n1") + node("n2") + holder("n1", "{cpu: 7500m}") + holder("n2", "{cpu: 7}")
    assert told(nodes, waiting("{cpu: 2}")) == (
        "asks for 2 cpu, and at most 1 is free on a node at the moment",
        ("n1: 0.5 of 8 cpu are free, 1.5 short", "n2: 1 of 8 cpu is free, 1 short"),
    )


def test_memory_is_told_as_people_read_it() -> None:
    nodes = node("n1", allocatable='{cpu: "8", memory: 31173840Ki, pods: "110"}')
    assert told(nodes, waiting("{memory: 64Gi}")) == (
        "asks for 64Gi memory, and the largest node has 29.7Gi",
        ("n1: 29.7Gi of 29.7Gi memory are free, 34.2Gi short",),
    )


def test_devices_that_no_node_has() -> None:
    assert told(node("n1"), waiting("{nvidia.com/gpu: 8}"))[0] == (
        "asks for 8 nvidia.com/gpu, and no node that would do has any"
    )


def test_what_can_never_be_is_told_before_what_may_come() -> None:
    nodes = node("n1") + holder("n1", "{cpu: 8}")
    assert told(nodes, waiting("{cpu: 1, memory: 1Ti}"))[0].startswith("asks for 1Ti memory")


def test_every_node_is_short_of_something_else() -> None:
    nodes = node("n1") + node("n2") + holder("n1", "{cpu: 8}") + holder("n2", "{memory: 32Gi}")
    assert told(nodes, waiting("{cpu: 1, memory: 1Gi}"))[0] == (
        "every node is short of something: n1 of cpu; n2 of memory"
    )


def test_pods_are_counted_as_well() -> None:
    nodes = node("n1", allocatable='{cpu: "8", pods: "1"}') + holder("n1", "{}")
    assert told(nodes, waiting())[0].startswith("asks for 1 pod, and at most 0 are free")


def test_many_nodes_are_told_by_a_few() -> None:
    nodes = "".join(node(f"n{each}") for each in range(9))
    assert told(nodes, waiting("{cpu: 9}"))[1][-1] == "and 5 more"


# Labels.


def test_a_label_that_no_node_has() -> None:
    nodes = node("n1", labels="{zone: a}") + node("n2")
    assert told(nodes, waiting(spec__nodeSelector="{zone: b}")) == (
        "no node has the label zone=b",
        ("n1: has no label zone=b", "n2: has no label zone=b"),
    )


def test_labels_that_no_node_has_together() -> None:
    nodes = node("n1", labels="{zone: a}") + node("n2", labels="{gpu: a100}")
    found = told(nodes, waiting(spec__nodeSelector="{zone: a, gpu: a100}"))
    assert found[0] == "no node has all of the labels zone=a, gpu=a100"


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
def test_an_affinity_is_read_as_the_scheduler_reads_it(expression: str, matches: bool) -> None:
    nodes = node("n1", labels='{zone: a, generation: "4"}')
    found = waiting(spec__affinity=TERM.replace("EXPRESSION", expression))
    reason = fits_nowhere(evidence(found, ask=Recorded(nodes)))
    assert (reason is None) is matches
    if reason is not None:
        assert reason.sentence.startswith("fits on no node: no node matches the node affinity: ")


def test_an_affinity_in_words() -> None:
    expression = "{key: zone, operator: In, values: [b, c]}, {key: gpu, operator: Exists}"
    found = waiting(spec__affinity=TERM.replace("EXPRESSION", expression))
    assert told(node("n1"), found)[0].endswith("zone In (b, c) and gpu Exists")


# Nodes that take nothing.


def test_nodes_that_are_down_or_cordoned() -> None:
    nodes = node("n1", ready="Unknown") + node("n2", spec="{unschedulable: true}")
    assert told(nodes, waiting()) == (
        "all 2 nodes that would do are cordoned or not ready",
        ("n1: is not ready", "n2: is cordoned"),
    )


def test_the_only_node_that_has_the_label_is_cordoned() -> None:
    nodes = node("n1", labels="{zone: a}", spec="{unschedulable: true}") + node("n2")
    found = told(nodes, waiting(spec__nodeSelector="{zone: a}"))
    assert found[0] == "the only node that would do, n1, is cordoned"
    assert found[1] == ("n1: is cordoned", "n2: has no label zone=a")


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
def test_a_taint_is_read_as_the_scheduler_reads_it(tolerations: str, tolerated: bool) -> None:
    found = waiting(spec__tolerations=tolerations)
    reason = fits_nowhere(evidence(found, ask=Recorded(node("n1", spec=GPU))))
    assert (reason is None) is tolerated
    if reason is not None:
        assert reason == (
            (
                "fits on no node: no toleration for the taint gpu=a100:NoSchedule of the node that "
                "would do"
            ),
            ("n1: has the taint gpu=a100:NoSchedule",),
        )


def test_a_taint_that_only_dissuades_keeps_nobody_off() -> None:
    nodes = node("n1", spec="{taints: [{key: a, effect: PreferNoSchedule}]}")
    assert fits_nowhere(evidence(waiting(), ask=Recorded(nodes))) is None


# Without the nodes.


def test_whoever_may_not_read_nodes_is_told_what_the_scheduler_says() -> None:
    asked = evidence(waiting("{cpu: 4000}"))
    assert fits_nowhere(asked) is None
    found = as_the_scheduler_says(asked)
    told = "fits on no node: 0/3 nodes are available: 3 Insufficient cpu"
    assert found == (told, ())


def test_a_pod_that_waits_for_nothing_special_is_not_explained() -> None:
    ask = Recorded(node("n1"))
    young = pod('conditions: [{type: PodScheduled, status: "True"}]')
    gated = pod('conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]')
    for each in (young, gated):
        assert fits_nowhere(evidence(each, ask=ask)) is None
        assert as_the_scheduler_says(evidence(each, ask=ask)) is None
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
def test_of_the_schedulers_text_only_known_parts_are_told(text: str, expected: str | None) -> None:
    assert summary(text) == expected
