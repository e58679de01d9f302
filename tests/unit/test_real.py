"""
The kinds of jobs that people run are valid specs.

A comment `# warning: CODE` at the end of a line expects a warning there, and `# error: CODE` an error;
nothing else is reported.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from paddlespec.pipeline import Choices, Loaded, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

FOLDER = Path(__file__).parents[1] / "real"
SPECS = sorted(FOLDER.glob("*.yaml"))
EXPECTED = re.compile(r"# (warning|error): ([a-z-]+)$")


def expected(file: Path) -> set[tuple[int, str, str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    matches = [(number, EXPECTED.search(line)) for number, line in enumerate(lines, 1)]
    return {(number, match[1], match[2]) for number, match in matches if match}


def loaded(file: Path) -> Loaded:
    ((job,), diagnostics) = load(str(file), Files(), Choices())
    assert diagnostics == []
    return job


def pod(name: str) -> dict[str, Any]:
    """Return the pod template of the trainers of a spec."""
    template: dict[str, Any] = next(
        one["spec"]["template"]
        for one in build(loaded(FOLDER / f"{name}.yaml"), Templates()).manifests
        if one["kind"] == "Job" and one["metadata"]["labels"]["paddlespec.io/role"] == "trainers"
    )
    return template


def main(name: str) -> dict[str, Any]:
    container: dict[str, Any] = pod(name)["spec"]["containers"][0]
    return container


@pytest.mark.parametrize("file", SPECS, ids=lambda file: file.stem)
def test_only_what_is_expected_is_reported(file: Path) -> None:
    job = loaded(file)
    reported = {(one.span.line, one.severity.value, one.code) for one in job.diagnostics}
    assert reported == expected(file)
    if job.is_valid:
        assert build(job, Templates()).manifests


def test_elastic_jobs_are_refused() -> None:
    reports = [str(one) for one in loaded(FOLDER / "elastic.yaml").diagnostics]
    assert all("starts an elastic job, which no target supports" in report for report in reports)


def test_annotations_of_pods_are_on_the_pods() -> None:
    annotations = pod("kueue-topology")["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-required-topology"] == "cloud.example.com/rack"


def test_labels_of_pods_are_on_the_pods() -> None:
    assert pod("ascend-npu")["metadata"]["labels"]["ring-controller.atlas"] == "ascend-910b"


@pytest.mark.parametrize("name", ["old-launcher", "fleet-launch"])
def test_old_launchers_have_the_addresses_of_all_replicas(name: str) -> None:
    (trainers,) = (one["value"] for one in main(name)["env"] if one["name"] == "PADDLE_TRAINERS")
    assert trainers.count(",") == 1


@pytest.mark.parametrize("name", ["image-workdir", "old-launcher", "entry-point-args"])
def test_the_working_directory_of_the_image_is_kept(name: str) -> None:
    assert "workingDir" not in main(name)


def test_arguments_leave_the_entry_point_alone() -> None:
    container = main("entry-point-args")
    assert "command" not in container
    assert container["args"][1] == "$(PADDLESPEC_INDEX)"


def test_variables_are_in_the_order_in_which_kubernetes_expands_them() -> None:
    names = [one["name"] for one in main("pod-fields-in-env")["env"]]
    assert names.index("HOST_IP") < names.index("STATSD")


def test_limits_are_above_requests() -> None:
    assert main("requests-below-limits")["resources"] == {
        "requests": {"cpu": "500m", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
    }


def test_devices_have_their_own_resources() -> None:
    limits = main("ephemeral-storage-hca")["resources"]["limits"]
    assert (limits["rdma/hca"], limits["ephemeral-storage"]) == ("1", "100Gi")
    assert main("rdma-host-network")["resources"]["limits"]["rdma/hca"] == "8"
    assert main("resource-claims")["resources"]["claims"] == [{"name": "gpus"}]


def test_privileged_containers_are_rendered_as_the_api_accepts_them() -> None:
    assert main("host-device-privileged")["securityContext"] == {"privileged": True}


def test_a_run_restarts_as_a_whole() -> None:
    manifests = build(loaded(FOLDER / "restart-as-a-whole.yaml"), Templates()).manifests
    (jobs,) = (one for one in manifests if one["kind"] == "JobSet")
    assert jobs["spec"]["failurePolicy"]["maxRestarts"] == 20


def test_a_dataset_of_trainers_is_not_mounted_by_pservers() -> None:
    manifests = build(loaded(FOLDER / "dataset-of-role.yaml"), Templates()).manifests
    mounted = {
        one["metadata"]["labels"]["paddlespec.io/role"]: {
            mount["mountPath"]
            for mount in one["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
        }
        for one in manifests
        if one["kind"] == "Job"
    }
    assert "/dataset" in mounted["trainers"]
    assert "/dataset" not in mounted["pservers"]
