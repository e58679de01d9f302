"""The real API server accepts every field of pods and resources, and runs keep their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

HEAD = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit, labels: {team: TEAM}}
spec:
  mode: ps
  image: registry.test/paddle:1
  command: python train.py
  trainers: {replicas: 2, RESOURCES}
  pservers: {replicas: 1, workload: StatefulSet, resources: {cpu: 1, memory: 1Gi}}
"""
MEMORY = "resources: {memory: 1Gi}"
SPECS = {
    "nothing": "resources: {}",
    "limits": "resources: {cpu: 1, memory: 1Gi, limits: {cpu: none, memory: 2Gi}}",
    "limits alone": "resources: {limits: {cpu: 2, memory: 2Gi}}",
    "disk": "resources: {memory: 1Gi, ephemeralStorage: 1Gi, limits: {ephemeralStorage: 2Gi}}",
    "extended": "resources: {memory: 1Gi, extended: {rdma/hca: 1, hugepages-2Mi: 4Mi}}",
    "claims": "resources: {memory: 1Gi, claims: "
    "[{name: gpus, template: eight, request: gpu}, {name: nic, claim: shared}]}",
    "metadata": f"{MEMORY}, pod: {{labels: {{tier: gpu}}, annotations: {{a.b/c: d}}}}",
    "identity": f"{MEMORY}, pod: {{serviceAccount: default, automountServiceAccountToken: true}}",
    "network": f"{MEMORY}, pod: {{hostIPC: true, hostAliases: [{{ip: 10.0.0.1, hostnames: [a.b]}}]}}",
    "context": f"{MEMORY}, pod: {{securityContext: {{runAsUser: 1000, runAsGroup: 1, fsGroup: 5, "
    "fsGroupChangePolicy: OnRootMismatch, supplementalGroups: [7], "
    "seLinuxOptions: {level: 's0:c1'}, appArmorProfile: {type: Unconfined}, "
    "seccompProfile: {type: Localhost, localhostProfile: a.json}, "
    "sysctls: [{name: net.ipv4.tcp_syncookies, value: '1'}]}}".replace("}}", "}")
    + "}",
    "privileged": f"{MEMORY}, pod: {{containerSecurityContext: {{privileged: true}}}}",
    "admin": f"{MEMORY}, pod: {{containerSecurityContext: "
    "{capabilities: {add: [CAP_SYS_ADMIN], drop: [NET_RAW]}, readOnlyRootFilesystem: true}}",
    "variables": f"{MEMORY}, env: {{NODE: {{field: status.hostIP}}, IPS: {{field: status.podIPs}}, "
    "TEAM: {field: \"metadata.labels['team']\"}, UID_: {field: metadata.uid}, "
    "LIMIT: {resource: limits.memory, divisor: 1Mi}, CORES: {resource: requests.cpu, divisor: 1m}, "
    "DISK: {resource: limits.ephemeral-storage}}",
    "sources": f"{MEMORY}, envFrom: [{{secret: team}}, "
    "{configMap: settings, prefix: T_, optional: true}]",
}
PATCHED = """\
  patches:
    - target: {kind: Job}
      patch:
        spec:
          template:
            spec:
              containers:
                - {name: paddle, securityContext: {privileged: true, capabilities: {add: [IPC_LOCK]}}}
"""
MODE = """\
  volumes:
    - {name: keys, mountPath: /keys, secret: keys, defaultMode: "0400"}
    - {name: conf, mountPath: /conf, configMap: conf, defaultMode: "0444"}
"""


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def spec(resources: str = MEMORY, team: str = "ads", more: str = "") -> str:
    return HEAD.replace("RESOURCES", resources).replace("TEAM", team) + more


@pytest.mark.parametrize("fields", SPECS.values(), ids=SPECS)
def test_the_server_accepts_every_field(user: User, fields: str) -> None:
    user.run("apply", user.write(spec(fields)), "--dry-run", "server")


@pytest.mark.parametrize("more", [PATCHED, MODE], ids=["patch", "mode"])
def test_the_server_accepts_what_gives_way(user: User, more: str) -> None:
    user.run("apply", user.write(spec(more=more)), "--dry-run", "server")


def test_a_namespace_that_enforces_restricted_accepts_the_level(user: User) -> None:
    setting = "pod-security.kubernetes.io/enforce=restricted"
    user.plane.kubectl("label", "namespace", user.namespace, setting)
    unfit = user.write(spec())
    assert "restricted" in user.run("apply", unfit, "--dry-run", "server", code=3).stderr
    more = "  pod: {security: restricted, securityContext: {runAsUser: 1000}}\n"
    more += "  volumes: [{name: out, mountPath: /out, claim: {size: 1Gi}}]\n  output: /out\n"
    user.run("apply", user.write(spec(more=more)), "--dry-run", "server")


def test_a_label_of_the_job_leaves_running_pods_alone(user: User) -> None:
    path = user.write(spec())
    user.run("apply", path, "--wait", "ready")
    before = uids(user)
    user.write(spec(team="search"))
    shown = user.run("diff", path, code=1).stdout
    assert "metadata.labels.team" in shown
    assert "replace" not in shown.replace("0 to replace", "")
    user.run("apply", path)
    assert uids(user) == before
    assert {job["metadata"]["labels"]["team"] for job in user.all("jobs")} == {"search"}
    assert {pod["metadata"]["labels"]["team"] for pod in user.all("pods")} == {"ads"}
    assert "No changes." in user.run("diff", path).stdout
    user.run("apply", path, "--replace", "--rerun", "--wait", "ready")


def test_a_label_of_pods_replaces_the_run(user: User) -> None:
    path = user.write(spec())
    user.run("apply", path, "--wait", "ready")
    user.write(spec(more="  pod: {labels: {tier: gpu}}\n"))
    assert "0 to change, 4 to replace" in user.run("diff", path, code=1).stdout
    user.run("apply", path, "--replace", "--wait", "ready")
    assert {pod["metadata"]["labels"]["tier"] for pod in user.all("pods")} == {"gpu"}


def uids(user: User) -> set[Any]:
    return {
        one["metadata"]["uid"]
        for kind in ("jobs", "statefulsets", "pods")
        for one in user.all(kind)
    }
