"""Jobs that other tools applied from rendered manifests are adopted without a conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

# Every field with defaults of the server inside, and amounts that the server writes differently.
RICH = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: MODE
  image: registry.test/paddle:1
  command: python -m paddle.distributed.launch train.py
  env:
    HOME_CITY: {configMap: cities, key: home}
    PASSWORD: {secret: team, key: password}
  output: /out/model
  outputPolicy: refuse
  volumes:
  - {name: out, mountPath: /out, hostPath: /srv}
  - {name: data, mountPath: /data, claim: {size: 1.5Gi}}
  - {name: conf, mountPath: /conf, configMap: cities}
  - {name: keys, mountPath: /keys, secret: team}
  - {name: scratch, mountPath: /scratch, emptyDir: {sizeLimit: 2048Mi}}
  - {name: host, mountPath: /host, hostPath: /tmp, readOnly: true}
  trainers:
    replicas: 2
    resources: {cpu: 0.5, memory: 1.5Gi}
    nodeSelector: {kubernetes.io/os: linux}
    tolerations: [{key: gpu, operator: Exists}]
    affinity:
      podAntiAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 1
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector: {matchLabels: {a: b}}
    ports: {metrics: 9090}
"""
LAUNCH = "-m paddle.distributed.launch "
PSERVERS = "  pservers: {replicas: 2, WORKLOADresources: {cpu: 1000m, memory: 1024Mi}}\n"
SPECS = {
    "collective": RICH.replace("MODE", "collective"),
    "ps": RICH.replace("MODE", "ps").replace(LAUNCH, "") + PSERVERS.replace("WORKLOAD", ""),
    "stateful": RICH.replace("MODE", "ps").replace(LAUNCH, "")
    + PSERVERS.replace("WORKLOAD", "workload: StatefulSet, "),
}
WAYS = {"client-side": (), "server-side": ("--server-side",)}


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spec", SPECS)
def test_what_kubectl_applied_is_adopted(user: User, spec: str, way: str) -> None:
    user.mark(run_for="1h")
    path = user.write(SPECS[spec])
    rendered = user.folder / "rendered"
    user.run("render", path, "--out", str(rendered))
    how = (*WAYS[way], "-R", "-f", str(rendered), "-n", user.namespace)
    user.plane.kubectl("apply", *how)
    before = user.settled()
    user.run("diff", path)
    result = user.run("apply", path)
    assert "changed" in result.stdout
    after = user.settled()
    assert pods(after) == pods(before)
    result = user.run("apply", path)
    assert {line.split()[1] for line in result.stdout.splitlines()} == {"unchanged"}
    # The other tool goes on as before.
    user.plane.kubectl("apply", *how)
    assert user.settled() == after
    user.run("diff", path)


def pods(objects: dict[str, object]) -> dict[str, object]:
    return {key: uid for key, uid in objects.items() if key.startswith("pods/")}
