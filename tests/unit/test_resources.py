"""What a role requests becomes requests and limits of its container, and nothing is invented."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from targets import HEAD, container, workload

from paddlespec.backends.local.prepare import limits
from paddlespec.capacity.device import is_accelerator
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.report.preview import preview
from paddlespec.report.totals import shares, total
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.pipeline import Loaded

ONE = "  mode: parallel\n  command: python train.py\n"


def loaded(folder: Path, resources: str, target: str = "kubernetes") -> Loaded:
    file = folder / "paddlejob.yaml"
    text = f"{HEAD}{ONE}  trainers: {{replicas: 2, resources: {resources}}}\n"
    file.write_text(text, encoding="utf-8")
    (job,), _ = load(str(file), Files(), Choices(target=target))
    assert job.is_valid, job.diagnostics
    return job


def rendered(folder: Path, resources: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the pod and its main container."""
    (job,) = build(loaded(folder, resources), Templates()).manifests
    pod = job["spec"]["template"]["spec"]
    return pod, pod["containers"][0]


def shared_memory(pod: dict[str, Any]) -> dict[str, Any]:
    (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "dshm"]
    scratch: dict[str, Any] = volume["emptyDir"]
    return scratch


@pytest.mark.parametrize(
    ("written", "requests", "most"),
    [
        pytest.param("{}", None, None, id="nothing"),
        pytest.param("{gpu: 1}", {"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "1"}, id="gpu"),
        pytest.param("{memory: 8Gi}", {"memory": "8Gi"}, {"memory": "8Gi"}, id="both"),
        pytest.param(
            "{cpu: 4, memory: 8Gi, limits: {memory: 16Gi}}",
            {"cpu": "4", "memory": "8Gi"},
            {"cpu": "4", "memory": "16Gi"},
            id="higher limit",
        ),
        pytest.param(
            "{cpu: 4, memory: 8Gi, limits: {cpu: none}}",
            {"cpu": "4", "memory": "8Gi"},
            {"memory": "8Gi"},
            id="no limit",
        ),
        pytest.param(
            "{memory: 1Gi, limits: {cpu: 2}}",
            {"cpu": "2", "memory": "1Gi"},
            {"cpu": "2", "memory": "1Gi"},
            id="limit alone",
        ),
        pytest.param(
            "{memory: 1Gi, ephemeralStorage: 50Gi, limits: {ephemeralStorage: 100Gi}}",
            {"memory": "1Gi", "ephemeral-storage": "50Gi"},
            {"memory": "1Gi", "ephemeral-storage": "100Gi"},
            id="disk",
        ),
        pytest.param(
            "{memory: 1Gi, extended: {rdma/hca: 1, example.com/off: 0}}",
            {"memory": "1Gi", "rdma/hca": "1"},
            {"memory": "1Gi", "rdma/hca": "1"},
            id="extended",
        ),
    ],
)
def test_what_is_written_is_rendered(
    tmp_path: Path, written: str, requests: object, most: object
) -> None:
    _, main = rendered(tmp_path, written)
    resources = main.get("resources", {})
    assert (resources.get("requests"), resources.get("limits")) == (requests, most)


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("{gpu: 8}", {"medium": "Memory"}),
        ("{memory: 8Gi}", {"medium": "Memory", "sizeLimit": "4Gi"}),
        ("{memory: 8Gi, limits: {memory: 16Gi}}", {"medium": "Memory", "sizeLimit": "8Gi"}),
        ("{memory: 8Gi, limits: {memory: none}}", {"medium": "Memory", "sizeLimit": "4Gi"}),
        ("{sharedMemory: 1Gi}", {"medium": "Memory", "sizeLimit": "1Gi"}),
    ],
)
def test_shared_memory_is_half_of_the_limit(
    tmp_path: Path, written: str, size: dict[str, str]
) -> None:
    assert shared_memory(rendered(tmp_path, written)[0]) == size


def test_a_claim_is_named_in_pod_and_container(tmp_path: Path) -> None:
    claims = "[{name: gpus, template: eight, request: gpu}, {name: nic, claim: shared}]"
    pod, main = rendered(tmp_path, f"{{memory: 1Gi, claims: {claims}}}")
    assert pod["resourceClaims"] == [
        {"name": "gpus", "resourceClaimTemplateName": "eight"},
        {"name": "nic", "resourceClaimName": "shared"},
    ]
    assert main["resources"]["claims"] == [{"name": "gpus", "request": "gpu"}, {"name": "nic"}]


def test_totals_count_requests(tmp_path: Path) -> None:
    job = loaded(tmp_path, "{cpu: 4, memory: 8Gi, limits: {memory: 16Gi}, extended: {rdma/hca: 1}}")
    amounts = total(shares(job.job, build(job, Templates()).manifests))
    assert {name: int(amount) for name, amount in amounts.items()} == {
        "cpu": 8,
        "memory": 16 << 30,
        "rdma/hca": 2,
    }


@pytest.mark.parametrize(
    ("written", "cells"),
    [
        ("{gpu: 1}", ["unset", "unset", "1", "unlimited"]),
        ("{cpu: 4, memory: 8Gi, limits: {memory: 16Gi}}", ["4", "8Gi to 16Gi", "8Gi"]),
        ("{cpu: 4, memory: 8Gi, limits: {cpu: none}}", ["4 or more", "8Gi", "4Gi"]),
        ("{memory: 8Gi, claims: [{name: gpus, template: eight}]}", ["unset", "8Gi", "gpus", "4Gi"]),
    ],
)
def test_the_preview_shows_requests_and_limits(
    tmp_path: Path, written: str, cells: list[str]
) -> None:
    job = loaded(tmp_path, written)
    page = preview(job, build(job, Templates()).manifests, width=160, color=False)
    row = next(line for line in page.splitlines() if line.strip().startswith("trainers "))
    assert re.split(" {2,}", row.strip())[2 : 2 + len(cells)] == cells


def test_a_rehearsal_is_held_to_the_limit(tmp_path: Path) -> None:
    job = loaded(tmp_path, "{cpu: 2, memory: 1Gi, limits: {memory: 2Gi, cpu: 8}}", "local")
    process = build(job, Templates()).manifests[1]
    assert limits.memory(process) == 2 << 30
    assert set(limits.threads(process).values()) == {"2"}


@pytest.mark.parametrize("written", ["{}", "{memory: 1Gi, limits: {memory: none}}"])
def test_a_rehearsal_without_a_limit_has_none(tmp_path: Path, written: str) -> None:
    process = build(loaded(tmp_path, written, "local"), Templates()).manifests[1]
    assert limits.memory(process) is None


def test_a_rehearsal_needs_no_network_device(tmp_path: Path) -> None:
    processes = build(loaded(tmp_path, "{extended: {rdma/hca: 1}}", "local"), Templates()).manifests
    assert limits.devices(processes[1:], [], cpu_only=False).faults == ()


def test_a_rehearsal_reports_no_missing_memory(tmp_path: Path) -> None:
    assert loaded(tmp_path, "{gpu: 1}", "local").diagnostics == []


def test_cores_of_v2_trainers_default_to_one(tmp_path: Path) -> None:
    spec = "  mode: legacy\n  command: t\n  trainers: {resources: {memory: 1Gi}}\n"
    spec += "  parameters: {passes: 1}\n  pservers: {resources: {memory: 1Gi}}\n"
    (count,) = [
        entry["value"]
        for entry in container(tmp_path, spec)["env"]
        if entry["name"] == "PADDLE_INIT_TRAINER_COUNT"
    ]
    assert count == "1"
    assert workload(tmp_path, spec)["kind"] == "Job"


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("nvidia.com/gpu", True),
        ("huawei.com/Ascend910", True),
        ("rdma/hca_shared_devices_a", False),
        ("vpc.amazonaws.com/efa", False),
        ("intel.com/intel_sriov_netdevice", False),
        ("memory", False),
        ("hugepages-2Mi", False),
    ],
)
def test_network_devices_are_no_accelerators(name: str, counts: bool) -> None:
    assert is_accelerator(name) is counts
