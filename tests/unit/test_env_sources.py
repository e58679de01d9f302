"""Variables from fields, resources, and whole Secrets and ConfigMaps, in pods and in rehearsals."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest
from targets import HEAD, container, workload

from paddlespec.backends.local.prepare import variables
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.render.manifest import Manifest

RESOURCES = "resources: {cpu: 1500m, memory: 2Gi, limits: {cpu: 3}}"
ONE = f"  mode: parallel\n  command: t\n  trainers: {{replicas: 2, {RESOURCES}}}\n"


def variable(folder: Path, source: str) -> Any:
    env = container(folder, f"{ONE}  env: {{X: {source}}}\n")["env"]
    (entry,) = [entry for entry in env if entry["name"] == "X"]
    return entry["valueFrom"]


def processes(folder: Path, spec: str) -> list[Manifest]:
    file = folder / "paddlejob.yaml"
    file.write_text(HEAD.replace("{name: a}", "{name: a, labels: {team: ads}}") + spec, "utf-8")
    (job,), _ = load(str(file), Files(), Choices(target="local"))
    assert job.is_valid, job.diagnostics
    return build(job, Templates()).manifests[1:]


def test_a_field_of_the_pod(tmp_path: Path) -> None:
    assert variable(tmp_path, "{field: status.hostIP}") == {
        "fieldRef": {"apiVersion": "v1", "fieldPath": "status.hostIP"}
    }


def test_a_resource_of_the_container(tmp_path: Path) -> None:
    assert variable(tmp_path, "{resource: limits.memory, divisor: 1Mi}") == {
        "resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}
    }
    assert variable(tmp_path, "{resource: requests.cpu}") == {
        "resourceFieldRef": {"resource": "requests.cpu", "divisor": "0"}
    }


def test_whole_sources_of_a_role_follow_those_of_the_spec(tmp_path: Path) -> None:
    own = "envFrom: [{configMap: settings, prefix: T_, optional: true}], "
    spec = ONE.replace("{replicas", f"{{{own}replicas") + "  envFrom: [{secret: team}]\n"
    assert container(tmp_path, spec)["envFrom"] == [
        {"secretRef": {"name": "team"}},
        {"prefix": "T_", "configMapRef": {"name": "settings", "optional": True}},
    ]


@pytest.mark.parametrize(("kind", "holder"), [("secret", "secret"), ("configMap", "configMap")])
def test_files_have_the_mode_that_the_spec_says(tmp_path: Path, kind: str, holder: str) -> None:
    volumes = f'  volumes: [{{name: k, mountPath: /k, {kind}: keys, defaultMode: "0400"}}]\n'
    pod = workload(tmp_path, ONE + volumes)["spec"]["template"]["spec"]
    (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "k"]
    assert volume[holder]["defaultMode"] == 0o400


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{field: metadata.name}", "a-trainer-1"),
        ("{field: metadata.namespace}", "ads"),
        ("{field: \"metadata.labels['team']\"}", "ads"),
        ("{field: \"metadata.labels['paddlespec.io/role']\"}", "trainers"),
        ("{field: \"metadata.labels['none']\"}", ""),
        ("{field: \"metadata.labels['batch.kubernetes.io/job-completion-index']\"}", "1"),
        ("{field: \"metadata.annotations['net']\"}", "rdma"),
        ("{field: spec.serviceAccountName}", "trainer"),
        ("{field: spec.nodeName}", socket.gethostname()),
        ("{field: status.hostIP}", "127.0.0.1"),
        ("{field: status.podIP}", "127.9.9.9"),
        ("{resource: limits.cpu}", "3"),
        ("{resource: requests.cpu}", "2"),
        ("{resource: requests.cpu, divisor: 1m}", "1500"),
        ("{resource: limits.memory}", str(2 << 30)),
        ("{resource: limits.memory, divisor: 1Mi}", "2048"),
        ("{resource: requests.ephemeral-storage}", "0"),
    ],
)
def test_a_rehearsal_has_the_values_of_its_pod(tmp_path: Path, source: str, expected: str) -> None:
    pod = "  pod: {serviceAccount: trainer, annotations: {net: rdma}}\n"
    process = processes(tmp_path, f"{ONE}{pod}  env: {{X: {source}}}\n")[1]
    resolved = variables.resolve(process, "ads", {}, "127.9.9.9")
    assert resolved.missing == ()
    assert resolved.values["X"] == expected


def test_a_limit_that_is_not_set_is_that_of_the_machine(tmp_path: Path) -> None:
    spec = "  mode: parallel\n  command: t\n  env: {X: {resource: limits.memory}}\n"
    resolved = variables.resolve(processes(tmp_path, spec)[0], "ads", {})
    assert int(resolved.values["X"]) > 1 << 26


def test_what_no_process_has_is_taken_from_the_shell(tmp_path: Path) -> None:
    (process, _) = processes(tmp_path, f"{ONE}  env: {{X: {{field: metadata.uid}}}}\n")
    (message,) = variables.described(variables.resolve(process, "ads", {}).missing)
    assert message.startswith(
        "variable X (pod field metadata.uid) is not set; set it in your shell"
    )
    assert variables.resolve(process, "ads", {"X": "7"}).values["X"] == "7"
