"""Settings of pods: metadata, identity and security, per spec and per role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from targets import HEAD

from paddlespec.change.diff import Change, Effect, Operation, with_their_run
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.render.manifest import Manifest

PS = """\
  mode: ps
  command: python train.py
  trainers: {resources: {memory: 1Gi}%s}
  pservers: {resources: {memory: 1Gi}}
"""
SERVED = (PS % "").replace("pservers: {", "pservers: {workload: StatefulSet, ")
SMALL = "  mode: parallel\n  command: t\n  trainers: {resources: {memory: 1Gi}}\n"


def manifests(
    folder: Path, spec: str, labels: str = "", target: str | None = None
) -> list[Manifest]:
    file = folder / "paddlejob.yaml"
    head = HEAD.replace("{name: a}", f"{{name: a, labels: {{{labels}}}}}")
    file.write_text(head + spec, encoding="utf-8")
    (job,), _ = load(str(file), Files(), Choices(target=target))
    assert job.is_valid, job.diagnostics
    return build(job, Templates()).manifests


def workload(folder: Path, spec: str, name: str = "a-trainer", labels: str = "") -> Manifest:
    (job,) = [
        manifest
        for manifest in manifests(folder, spec, labels)
        if manifest["kind"] in ("Job", "StatefulSet") and manifest["metadata"]["name"] == name
    ]
    return job


def pod(folder: Path, spec: str, name: str = "a-trainer") -> dict[str, Any]:
    spec_of_pod: dict[str, Any] = workload(folder, spec, name)["spec"]["template"]["spec"]
    return spec_of_pod


def test_labels_of_the_job_are_labels_of_its_pods(tmp_path: Path) -> None:
    labels = "team: ads, kueue.x-k8s.io/priority-class: high, job-name: x, paddlespec.io/role: y"
    job = workload(tmp_path, SMALL, labels=labels)
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "high"
    assert job["spec"]["template"]["metadata"]["labels"] == {
        "team": "ads",
        "app.kubernetes.io/name": "a",
        "app.kubernetes.io/managed-by": "paddlespec",
        "paddlespec.io/job": "a",
        "paddlespec.io/role": "trainers",
        "sidecar.istio.io/inject": "false",
    }


def test_a_label_of_the_user_is_in_no_selector(tmp_path: Path) -> None:
    spec = PS % "" + "  pod: {labels: {tier: gpu}}\n"
    spec = spec.replace("pservers: {", "pservers: {workload: StatefulSet, ")
    rendered = manifests(tmp_path, spec, "team: ads")
    selectors = [
        manifest["spec"]["selector"] for manifest in rendered if "selector" in manifest["spec"]
    ]
    assert len(selectors) == 3
    assert "team" not in str(selectors)
    assert "tier" not in str(selectors)


def test_settings_of_a_role_are_merged_over_those_of_the_spec(tmp_path: Path) -> None:
    own = ", pod: {labels: {tier: gpu}, annotations: {net: rdma}, securityContext: {fsGroup: 7}}"
    spec = PS % own + (
        "  pod:\n"
        "    labels: {tier: cpu, cost: a}\n"
        "    annotations: {owner: me}\n"
        "    serviceAccount: trainer\n"
        "    securityContext: {runAsUser: 1000, fsGroup: 5}\n"
    )
    trainer = workload(tmp_path, spec)["spec"]["template"]
    pserver = workload(tmp_path, spec, "a-pserver")["spec"]["template"]
    assert {key: trainer["metadata"]["labels"][key] for key in ("tier", "cost")} == {
        "tier": "gpu",
        "cost": "a",
    }
    assert pserver["metadata"]["labels"]["tier"] == "cpu"
    assert trainer["metadata"]["annotations"] == {"owner": "me", "net": "rdma"}
    assert pserver["metadata"]["annotations"] == {"owner": "me"}
    seccomp = {"seccompProfile": {"type": "RuntimeDefault"}}
    assert trainer["spec"]["securityContext"] == {**seccomp, "runAsUser": 1000, "fsGroup": 7}
    assert pserver["spec"]["securityContext"] == {**seccomp, "runAsUser": 1000, "fsGroup": 5}
    assert trainer["spec"]["serviceAccountName"] == "trainer"
    assert trainer["spec"]["automountServiceAccountToken"] is False


def test_every_setting_reaches_the_pod(tmp_path: Path) -> None:
    rendered = pod(
        tmp_path,
        SMALL + "  pod:\n"
        "    automountServiceAccountToken: true\n"
        "    runtimeClass: nvidia\n"
        "    hostIPC: true\n"
        "    hostAliases: [{ip: 10.0.0.1, hostnames: [store]}]\n"
        "    containerSecurityContext: {capabilities: {add: [IPC_LOCK]}}\n",
    )
    assert rendered["automountServiceAccountToken"] is True
    assert rendered["runtimeClassName"] == "nvidia"
    assert rendered["hostIPC"] is True
    assert rendered["hostAliases"] == [{"ip": "10.0.0.1", "hostnames": ["store"]}]
    assert rendered["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"add": ["IPC_LOCK"]},
    }


def test_another_seccomp_profile_replaces_the_default(tmp_path: Path) -> None:
    spec = SMALL + "  pod: {securityContext: {seccompProfile: {type: Unconfined}}}\n"
    assert pod(tmp_path, spec)["securityContext"] == {"seccompProfile": {"type": "Unconfined"}}


def test_restricted_pods_drop_all_capabilities_and_refuse_root(tmp_path: Path) -> None:
    spec = PS % "" + (
        "  pod: {security: restricted, securityContext: {runAsUser: 1000}}\n"
        "  volumes: [{name: out, mountPath: /out, claim: {size: 1Gi}}]\n"
        "  output: /out\n"
    )
    rendered = pod(tmp_path, spec)
    assert rendered["securityContext"]["runAsNonRoot"] is True
    containers = [*rendered["initContainers"], *rendered["containers"]]
    assert len(containers) == 3
    for container in containers:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }


@pytest.mark.parametrize(
    "context", ["privileged: true", "capabilities: {add: [CAP_SYS_ADMIN]}"], ids=["all", "admin"]
)
@pytest.mark.parametrize("by", ["field", "merge", "json"])
def test_a_stricter_default_gives_way(tmp_path: Path, context: str, by: str) -> None:
    path = "/spec/template/spec/containers/0/securityContext"
    key, _, value = context.partition(": ")
    merge = "{spec: {template: {spec: {containers: [{name: paddle, securityContext: {%s}}]}}}}"
    text = {
        "field": f"  pod: {{containerSecurityContext: {{{context}}}}}\n",
        "merge": f"  patches: [{{target: {{kind: Job}}, patch: {merge % context}}}]\n",
        "json": "  patches: [{target: {kind: Job}, patch: "
        f"[{{op: add, path: {path}/{key}, value: {value}}}]}}]\n",
    }[by]
    rendered = pod(tmp_path, SMALL + text)["containers"][0]["securityContext"]
    assert "allowPrivilegeEscalation" not in rendered
    assert key in rendered


def change(folder: Path, before: str, after: str, spec: str = SMALL) -> list[Change]:
    pairs = zip(manifests(folder, spec, before), manifests(folder, spec, after))
    return with_their_run([Change(old, new) for old, new in pairs])


@pytest.mark.parametrize("spec", [SMALL, SERVED], ids=["job", "stateful set"])
def test_a_label_of_the_job_replaces_no_run(tmp_path: Path, spec: str) -> None:
    changes = change(tmp_path, "team: a", "team: b, cost: c", spec)
    assert {one.operation for one in changes} == {Operation.change}
    effects = {field.effect for one in changes for field in one.fields}
    assert effects == {Effect.in_place}


def test_a_label_of_pods_replaces_the_run(tmp_path: Path) -> None:
    old = manifests(tmp_path, SMALL + "  pod: {labels: {team: a}}\n")
    new = manifests(tmp_path, SMALL + "  pod: {labels: {team: b}}\n")
    changes = with_their_run([Change(*pair) for pair in zip(old, new)])
    assert {one.operation for one in changes} == {Operation.replace}


def test_a_jobset_has_the_same_pods(tmp_path: Path) -> None:
    rendered = manifests(tmp_path, SMALL + "  pod: {labels: {tier: a}}\n", target="jobset")
    (job_set,) = [manifest for manifest in rendered if manifest["kind"] == "JobSet"]
    template = job_set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert template["metadata"]["labels"]["tier"] == "a"
