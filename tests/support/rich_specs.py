"""Valid effective documents that together use every field, and small faults to insert."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from paddlespec.diagnostic import Path

PS: dict[str, Any] = {
    "apiVersion": "paddlespec.io/v1",
    "kind": "PaddleJob",
    "metadata": {
        "name": "fit-a-line",
        "namespace": "ads",
        "labels": {"team": "ads", "example.com/cost-centre": ""},
        "annotations": {"example.com/owner": "ads, 2nd floor"},
    },
    "spec": {
        "mode": "ps",
        "image": "paddlepaddle/paddle:2.6.2",
        "imagePullPolicy": "IfNotPresent",
        "registry": "team-registry",
        "package": {
            "path": ".",
            "into": "demo",
            "exclude": ["data/**"],
            "requirements": "requirements.txt",
            "pip": ["visualdl==2.5.3"],
            "python": "python3.10",
            "delivery": "configmap",
        },
        "setup": ["pip list"],
        "teardown": ["echo done"],
        "command": "python train.py",
        "workdir": "/workspace",
        "parameters": {"passes": 10, "rate": 0.5, "name": "x", "fast": True, "user": None},
        "env": {
            "LOG_LEVEL": "info",
            "PASSES": 10,
            "RATE": 0.5,
            "FAST": False,
            "TOKEN": {"secret": "team-token", "key": "token"},
            "PLACE": {"configMap": "team-settings", "key": "place"},
            "SALT": {"value": "abc", "sensitive": True},
            "NODE": {"field": "status.hostIP"},
            "LIMIT": {"resource": "limits.memory", "divisor": "1Mi"},
        },
        "envFrom": [{"secret": "team-credentials"}],
        "allowManagedEnv": ["PADDLE_LOG_LEVEL"],
        "trainers": {
            "replicas": 4,
            "processesPerReplica": 1,
            "resources": {
                "cpu": 2,
                "memory": "4Gi",
                "gpu": 1,
                "accelerator": "nvidia.com/gpu",
                "sharedMemory": "1Gi",
                "ephemeralStorage": "50Gi",
                "limits": {"cpu": "none", "memory": "8Gi", "ephemeralStorage": 100},
                "extended": {"rdma/hca": 1, "hugepages-2Mi": "1Gi"},
                "claims": [
                    {"name": "nic", "template": "nics", "request": "fast"},
                    {"name": "shared", "claim": "all-nics"},
                ],
            },
            "ports": {"tensorboard": 6006},
            "env": {"A": "1"},
            "envFrom": [{"configMap": "settings", "prefix": "TEAM_", "optional": True}],
            "image": "team/trainer:1",
            "command": ["python", "train.py"],
            "nodeSelector": {"example.com/gpu": "a100"},
            "tolerations": [
                {
                    "key": "gpu",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                },
                {"key": "gpu", "operator": "Equal", "value": "training"},
            ],
            "affinity": {"podAntiAffinity": {}},
            "volumes": [{"name": "cache", "mountPath": "/cache", "emptyDir": {}}],
            "sidecars": [{"name": "exporter", "command": ["export"]}],
            "pod": {"labels": {"tier": "gpu"}},
        },
        "pod": {
            "labels": {"cost-center": "ads"},
            "annotations": {"example.com/a": "b"},
            "serviceAccount": "trainer",
            "automountServiceAccountToken": True,
            "security": "restricted",
            "securityContext": {
                "runAsUser": 1000,
                "runAsGroup": 1000,
                "runAsNonRoot": True,
                "fsGroup": 1000,
                "fsGroupChangePolicy": "OnRootMismatch",
                "supplementalGroups": [2000],
                "seccompProfile": {"type": "Localhost", "localhostProfile": "a.json"},
                "appArmorProfile": {"type": "RuntimeDefault"},
                "seLinuxOptions": {"level": "s0"},
                "sysctls": [{"name": "net.core.somaxconn", "value": "1024"}],
            },
            "containerSecurityContext": {
                "privileged": False,
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
            },
            "runtimeClass": "nvidia",
            "hostIPC": False,
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["store"]}],
        },
        "pservers": {"replicas": 2, "workload": "Job", "resources": {"cpu": "500m", "memory": 1.5}},
        "roles": {"evaluator": {"replicas": 1, "command": "python evaluate.py", "env": {"A": "1"}}},
        "volumes": [
            {"name": "home", "mountPath": "/home/alice", "claim": "alice-home", "subPath": "a"},
            {
                "name": "new",
                "mountPath": "/new",
                "claim": {"size": "100Gi", "storageClass": "fast", "access": "ReadWriteOnce"},
            },
            {"name": "node", "mountPath": "/node", "hostPath": "/mnt/data", "readOnly": True},
            {
                "name": "export",
                "mountPath": "/e",
                "nfs": {"server": "nfs.example.com", "path": "/x"},
            },
            {
                "name": "ceph",
                "mountPath": "/c",
                "cephfs": {
                    "monitors": ["10.0.0.1:6789"],
                    "path": "/",
                    "user": "admin",
                    "secret": "ceph",
                },
            },
            {
                "name": "scratch",
                "mountPath": "/s",
                "emptyDir": {"medium": "Memory", "sizeLimit": 1},
            },
            {"name": "shared", "mountPath": "/shared", "storage": "home"},
            {
                "name": "settings",
                "mountPath": "/settings",
                "configMap": "team-settings",
                "defaultMode": "0440",
            },
            {"name": "certificates", "mountPath": "/certificates", "secret": "team-certificates"},
        ],
        "sidecars": [
            {
                "name": "tensorboard",
                "image": "team/tensorboard:1",
                "command": "tensorboard --logdir /logs",
                "args": ["--bind_all"],
                "env": {"A": "1", "TOKEN": {"secret": "team-token", "key": "token"}},
                "resources": {"cpu": "100m", "memory": "256Mi"},
                "volumeMounts": [
                    {"name": "home", "mountPath": "/logs", "subPath": "logs", "readOnly": True}
                ],
            }
        ],
        "workspace": "/home/alice",
        "input": "/home/alice/data",
        "output": "/home/alice/output",
        "outputPolicy": "reuse",
        "network": {
            "host": True,
            "ports": {"master": 20768, "pserver": 20174, "gloo": 20175},
            "rdma": {"resource": "rdma/hca", "count": 1},
        },
        "scheduling": {"queue": "ads", "priority": "normal", "gang": True, "scheduler": "volcano"},
        "policy": {
            "timeout": "1d12h",
            "retries": 2,
            "keepFinished": "7d",
            "whenChanged": "refuse",
        },
        "target": "kubernetes",
        "patches": [
            {
                "when": {"target": "kubernetes"},
                "target": {"kind": "Job", "role": "trainers", "name": "fit-a-line"},
                "patch": {"spec": {"template": {"spec": {"priorityClassName": "high"}}}},
            },
            {
                "target": {"kind": "Job"},
                "patch": [
                    {"op": "replace", "path": "/spec/backoffLimit", "value": 3},
                    {"op": "move", "path": "/spec/a", "from": "/spec/b"},
                ],
            },
        ],
    },
}
LEGACY: dict[str, Any] = {
    "apiVersion": "paddlespec.io/v1",
    "kind": "PaddleJob",
    "metadata": {"name": "old"},
    "spec": {
        "mode": "legacy",
        "image": "paddlepaddle/paddle:0.10.0",
        "command": ["paddle", "train"],
        "legacy": {"topology": "conf.py", "trainList": "train.list", "ports": 1, "sparsePorts": 0},
        "package": {"delivery": "auto"},
        "args": ["--fast"],
        "logs": "/logs",
        "trainers": {"resources": {"gpu": 0}},
        "pservers": {"workload": "StatefulSet"},
        "network": {"rdma": True},
    },
}
SMALL: dict[str, Any] = {
    "apiVersion": "paddlespec.io/v1",
    "kind": "PaddleJob",
    "metadata": {"name": "a"},
    "spec": {"mode": "collective", "image": "x"},
}
DOCUMENTS = (PS, LEGACY, SMALL)

VALUES: tuple[Any, ...] = (
    None, True, False, "", " ", "a", "A", "a-", "-a", "a.b", "a/b", "/a", "/a:b", "a\n", "/a\n", "1\n",
    "12h\n", "\N{ARABIC-INDIC DIGIT THREE}", "1\N{ARABIC-INDIC DIGIT THREE}Gi", "é", "/é", "a" * 63, "a" * 64, "a" * 253, "a" * 254, "a" * 15,
    "a" * 16, "/" + "a" * 4095, "/" + "a" * 4096, "x/" + "a" * 63, "4Gi", "500m", ".5", "1e3", "1e", "-1",
    "12h", "7d", "1h30m", "30m1h", "1.5h", "${{ parameters.passes }}", "\0", "a\0", "/\0",
    0, 1, -1, 2, 64, 65, 100, 101, 1024, 1025, 10_000, 10_001, 65535, 65536, 0.0, 1.0, 4.0, 4.5, -0.0, -1.0,
    1e15, 10**15, 10**15 + 1, 1e15 + 0.5, 10**18 + 1, 1e300, 2**31, 2**63 - 1, -(2**63), 1e-300,
    [], ["a"], [""], ["a", "a"], [1], [None], [[]], {}, {"a": "b"}, {"a": 1}, {"a": None},
    {"name": "a"}, {"secret": "a"}, {"value": 1, "sensitive": True}, {"size": "1Gi"}, {"target": "x"},
    {"op": "add", "path": ""}, "PaddleJob", "Job", "ps", "Always", "kubernetes", "Exists", "auto",
)  # fmt: skip
"""Values that people write by mistake."""

KEYS = ("a", "A", "", "a b", "a\n", "é", "\N{ARABIC-INDIC DIGIT THREE}", "x/a", "x/y/z", "name", "spec", "from", "from_", "api_version",
        "mount_path", "mountPath", "a" * 64, "A_1", "1A", "a-b", "$ref", "__proto__", "secret", "value")  # fmt: skip


def faulty(random: Random, faults: int) -> dict[str, Any]:
    """Return a document with several values changed, added, renamed or removed."""
    data = copy.deepcopy(random.choice(DOCUMENTS))
    for _ in range(faults):
        _change(data, random)
    return data


def places(data: Any, path: Path = ()) -> list[Path]:
    """Return the paths of all values of *data*, including collections."""
    paths: list[Path] = [path] if path else []
    members = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for part, member in members:
        paths += places(member, (*path, part))
    return paths


def _change(data: Any, random: Random) -> None:
    where = places(data)
    if not where:
        return
    *parents, last = random.choice(where)
    holder = data
    for part in parents:
        holder = holder[part]
    value = random.choice(VALUES)
    action = random.randrange(6)
    if action < 3:
        holder[last] = copy.deepcopy(value)
    elif action == 3:
        del holder[last]
    elif isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(value))
    elif action == 4:
        holder[random.choice(KEYS)] = copy.deepcopy(value)
    else:
        key = random.choice(KEYS) if random.random() < 0.5 else str(last).swapcase()
        holder[key] = holder.pop(last)
