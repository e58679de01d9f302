"""
What is fuzzed: a command, and the data that comes into it from outside.

Every target is called with a source of randomness and returns how one run ended. Commands run in
this process, which loads modules, the option parser and schemas once.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from mutate import mutated, text

from paddlespec.backends.cluster import engine
from paddlespec.backends.cluster.api.transport import Transport
from paddlespec.cli.app import main
from paddlespec.cli.shared.exits import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from random import Random

    Target = Callable[[Random], "Ended"]

JOB = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: j}
spec:
  mode: %s
  image: x:1
  env: {A: b}
  volumes: [{name: d, mountPath: /d, claim: data}]
  pservers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}, command: [a]}
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi, gpu: 1}, command: [a, b]}
"""
PARALLEL = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: j}
spec:
  mode: parallel
  image: x:1
  trainers: {replicas: 2, command: ["true"]}
"""


class Ended:
    """How a command ended; `said` is what it printed on stderr."""

    def __init__(self, code: int, said: str, why: str) -> None:
        self.code, self.said, self.why = code, said, why


def ran(*arguments: str) -> tuple[int, str]:
    """Run the command line in this process; return its exit code and stderr."""
    argv, sys.argv = sys.argv, ["paddlespec", *arguments]
    handler = signal.getsignal(signal.SIGTERM)
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return run(main), err.getvalue()
    finally:
        sys.argv = argv
        signal.signal(signal.SIGTERM, handler)


def _ended(arguments: Sequence[str], damaged: Sequence[str]) -> Ended:
    """Run a command; *damaged* may grow while it runs."""
    code, said = ran(*arguments)
    return Ended(code, said, f"{' '.join(arguments)} with " + "\n".join(damaged))


def prepare(folder: Path) -> None:
    """Make *folder* the home and working directory, with two specs."""
    os.chdir(folder)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder / "home")
    os.environ["KUBECONFIG"] = str(folder / "kubeconfig")
    server = {"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}]}
    context = {"contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}]}
    users = {"users": [{"name": "c", "user": {}}], "current-context": "c"}
    (folder / "kubeconfig").write_text(json.dumps({**server, **context, **users}))
    (folder / "job.yaml").write_text(JOB % "ps")
    (folder / "local.yaml").write_text(PARALLEL)


def plan(folder: Path) -> Target:
    """Fuzz `apply --plan`, with a plan that fits what the cluster answers."""
    update = ("-u", "trainers.replicas=3")
    with answering(coherent):
        code, said = ran("diff", "job.yaml", *update, "--replace", "--out", "plan.json")
        assert code == 0, said
        valid = json.loads((folder / "plan.json").read_text())
        command = ["apply", "--plan", "plan.json", "--dry-run", "server"]
        code, said = ran(*command)
        assert code == 0, said

    def target(random: Random) -> Ended:
        damaged = text(valid, random)
        (folder / "plan.json").write_text(damaged, encoding="utf-8", errors="surrogatepass")
        with answering(coherent):
            return _ended(command, [damaged])

    return target


def manifests(folder: Path) -> Target:
    """Fuzz `diff --against DIR`."""
    import yaml

    ways = {"kubernetes": "job.yaml", "jobset": "job.yaml", "local": "local.yaml"}
    valid: dict[str, list[Any]] = {}
    for way, spec in ways.items():
        assert ran("render", spec, "--target", way, "--out", f"before-{way}")[0] == 0
        files = sorted((folder / f"before-{way}").rglob("*.yaml"))
        valid[way] = [each for file in files for each in yaml.safe_load_all(file.read_text())]
    (folder / "fuzzed").mkdir()

    def target(random: Random) -> Ended:
        way = random.choice([*ways])
        some = random.sample(valid[way], random.randint(1, len(valid[way])))
        damaged = text({"kind": "List", "items": some}, random)
        (folder / "fuzzed" / "all.json").write_text(
            damaged, encoding="utf-8", errors="surrogatepass"
        )
        form = random.choice(("text", "json", "markdown"))
        command = ["diff", ways[way], "--target", way, "--against", "fuzzed", "-o", form]
        return _ended(command, [damaged])

    return target


def state(folder: Path) -> Target:
    """Fuzz what rehearsals store."""
    arguments = ("apply", "local.yaml", "--target", "local", "--wait", "complete")
    code, said = ran(*arguments)
    assert code == 0, said
    names = ("runs.json", "state.json", "launch.json", "manifests.json")
    files = [path for path in (folder / "home").rglob("*.json") if path.name in names]
    assert len(files) == len(names), files
    valid = {path: json.loads(path.read_text()) for path in files}
    commands = (
        "status j --target local",
        "status j --target local -o json",
        "get jobs -a --target local",
        "get jobs -a --target local -o json",
        "get workers j --target local",
        "get history j --target local",
        "get history j --target local --run 1",
        "get spec j --target local",
        "logs j --target local",
        "diff local.yaml --target local",
    )

    def target(random: Random) -> Ended:
        path = random.choice(files)
        damaged = text(valid[path], random)
        path.write_text(damaged, encoding="utf-8", errors="surrogatepass")
        try:
            return _ended(random.choice(commands).split(), [f"{path.name}: {damaged}"])
        finally:
            path.write_text(json.dumps(valid[path]))

    return target


def server(_: Path) -> Target:
    """Fuzz the answers of an API server; a coherent one is mutated."""
    commands = (
        "status j",
        "status j -o json",
        "get jobs -a",
        "get jobs -A -o json",
        "get workers j -o wide",
        "get history j",
        "get spec j",
        "get quota",
        "get queues",
        "get storages",
        "get resources",
        "get registries",
        "diff job.yaml",
        "apply job.yaml --dry-run server --yes",
        "wait j --timeout 0s",
        "config check",
    )

    def target(random: Random) -> Ended:
        chosen, damaged = random.choice(commands), []
        odds = random.choice((0.1, 0.3, 1.0))

        def answer(method: str, path: str) -> Any:
            if random.random() >= odds:
                return coherent(method, path)
            changed = mutated(answer_to(method, path), random)
            changed = stored(changed) if random.random() < 0.9 else changed
            damaged.append(f"{path}: {json.dumps(changed)}")
            return changed

        with answering(answer):
            return _ended(chosen.split(), damaged)

    return target


@contextlib.contextmanager
def answering(answer: Callable[[str, str], Any]) -> Iterator[None]:
    """Answer the requests for a method and path, one after another, which makes inputs repeatable."""

    def send(_self: Transport, _request: object, method: str, path: str, *_: object) -> bytes:
        return json.dumps(answer(method, path)).encode()

    with patch.object(engine, "AT_ONCE", 1), patch.object(Transport, "send", send):
        yield


TIME = "2026-01-01T00:00:00Z"
LABELS = {
    "paddlespec.io/job": "j",
    "paddlespec.io/role": "trainers",
    "kueue.x-k8s.io/queue-name": "q",
}
CONDITION = {"status": "True", "reason": "R", "message": "m", "lastTransitionTime": TIME}
AMOUNTS = {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "2", "pods": "10"}
CONTAINER = {
    "name": "paddle",
    "image": "x:1",
    "command": ["a"],
    "env": [{"name": "A", "value": "b"}],
    "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
    "ports": [{"name": "p", "containerPort": 1}],
}
POD = {
    "containers": [CONTAINER],
    "initContainers": [{**CONTAINER, "restartPolicy": "Always"}],
    "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
    "nodeName": "n",
    "nodeSelector": {"zone": "a"},
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}
                ]
            }
        }
    },
}
STATE = {
    "name": "paddle",
    "restartCount": 1,
    "ready": False,
    "state": {"waiting": {"reason": "ImagePullBackOff", "message": "m"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": TIME}},
}
RUN = {
    "run": 1,
    "state": "running",
    "specHash": "a",
    "renderedHash": "b",
    "uid": "u",
    "who": "me",
    "started": TIME,
    "commit": "c",
    "dirty": True,
}
SPEC = {
    "kind": "PaddleJob",
    "metadata": {"name": "j", "labels": {"team": "ads"}},
    "spec": {
        "mode": "ps",
        "scheduling": {"queue": "q"},
        "trainers": {"replicas": 2},
        "pservers": {"replicas": 1},
    },
}
KINDS: dict[str, dict[str, Any]] = {
    "configmaps": {
        "kind": "ConfigMap",
        "data": {"runs.json": [RUN], "spec-1.yaml": SPEC},
    },
    "jobs": {
        "kind": "Job",
        "spec": {
            **dict.fromkeys(("parallelism", "completions"), 2),
            "template": {"metadata": {"labels": LABELS}, "spec": POD},
            "activeDeadlineSeconds": 100,
            "ttlSecondsAfterFinished": 100,
        },
        "status": {
            **dict.fromkeys(("active", "ready", "succeeded", "failed"), 1),
            "startTime": TIME,
            "completionTime": TIME,
            "conditions": [{**CONDITION, "type": "SuccessCriteriaMet"}],
        },
    },
    "statefulsets": {
        "kind": "StatefulSet",
        "spec": {"replicas": 2, "template": {"spec": POD}, "serviceName": "s"},
        "status": {"replicas": 2, "readyReplicas": 1},
    },
    "pods": {
        "kind": "Pod",
        "spec": POD,
        "status": {
            "phase": "Pending",
            "conditions": [
                {
                    **CONDITION,
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/1 nodes are available: 1 Insufficient cpu.",
                }
            ],
            "containerStatuses": [STATE],
            "startTime": TIME,
        },
    },
    "events": {
        "kind": "Event",
        "reason": "FailedCreate",
        "message": "m",
        "type": "Warning",
        "count": 2,
        "lastTimestamp": TIME,
        "eventTime": None,
        "series": {"count": 2, "lastObservedTime": TIME},
        "involvedObject": {"kind": "Job", "name": "j-trainer", "uid": "u"},
    },
    "services": {"kind": "Service", "spec": {"selector": LABELS, "ports": [{"port": 1}]}},
    "secrets": {"kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {"a": "b"}},
    "nodes": {
        "kind": "Node",
        "spec": {"taints": [{"key": "k", "effect": "NoSchedule", "value": "v"}]},
        "status": {
            "capacity": AMOUNTS,
            "allocatable": AMOUNTS,
            "conditions": [{**CONDITION, "type": "Ready"}],
        },
    },
    "resourcequotas": {
        "kind": "ResourceQuota",
        "spec": {
            "hard": {"requests.cpu": "4", "count/jobs.batch": "3"},
            "scopes": ["NotTerminating"],
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}
                ]
            },
        },
        "status": {"hard": {"requests.cpu": "4"}, "used": {"requests.cpu": "1"}},
    },
    "limitranges": {
        "kind": "LimitRange",
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "1"}}]},
    },
    "persistentvolumeclaims": {
        "kind": "PersistentVolumeClaim",
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "s",
        },
        "status": {"phase": "Pending", "capacity": {"storage": "1Gi"}},
    },
    "storageclasses": {
        "kind": "StorageClass",
        "provisioner": "p",
        "allowVolumeExpansion": True,
        "volumeBindingMode": "WaitForFirstConsumer",
    },
    "leases": {"kind": "Lease", "spec": {"holderIdentity": "", "leaseDurationSeconds": 1}},
    "localqueues": {
        "kind": "LocalQueue",
        "spec": {"clusterQueue": "j"},
        "status": {"pendingWorkloads": 1, "conditions": [{**CONDITION, "type": "Active"}]},
    },
    "clusterqueues": {
        "kind": "ClusterQueue",
        "spec": {
            "cohort": "c",
            "resourceGroups": [
                {"flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}
            ],
        },
        "status": {"flavorsReservation": [{"name": "f", "resources": [{"name": "cpu"}]}]},
    },
    "workloads": {
        "kind": "Workload",
        "spec": {"queueName": "q", "priority": 1},
        "status": {"conditions": [{**CONDITION, "type": "QuotaReserved", "status": "False"}]},
    },
    "jobsets": {
        "kind": "JobSet",
        "spec": {
            "replicatedJobs": [
                {
                    "name": "trainers",
                    "replicas": 1,
                    "template": {"spec": {"template": {"spec": POD}, "parallelism": 2}},
                }
            ]
        },
        "status": {"restarts": 1, "replicatedJobsStatus": [{"name": "trainers", "ready": 1}]},
    },
    "podgroups": {
        "kind": "PodGroup",
        "spec": {"minMember": 2, "queue": "q"},
        "status": {"phase": "Pending", "conditions": [{**CONDITION, "type": "Unschedulable"}]},
    },
    "queues": {
        "kind": "Queue",
        "spec": {"capability": AMOUNTS, "weight": 1},
        "status": {"allocated": AMOUNTS, "state": "Open", "running": 1},
    },
}


def coherent(method: str, path: str) -> Any:
    """Return what a coherent cluster would answer."""
    return stored(answer_to(method, path))


def answer_to(method: str, path: str) -> dict[str, Any]:
    """Return a coherent answer, with documents inside of ConfigMaps as data."""
    if path == "/version":
        return {"gitVersion": "v1.36.0"}
    if re.fullmatch(r"/apis/[^/]+", path):
        return {"preferredVersion": {"groupVersion": f"{path.removeprefix('/apis/')}/v1"}}
    if re.fullmatch(r"/(apis/[^/]+/|api/)[^/]+", path):
        return {
            "resources": [
                {"kind": kind["kind"], "name": name, "namespaced": name != "nodes"}
                for name, kind in KINDS.items()
            ]
        }
    if path.endswith("/stats/summary"):
        used = {"usedBytes": 5, "pvcRef": {"name": "j", "namespace": "default"}}
        return {"pods": [{"volume": [used]}]}
    if "selfsubjectaccessreviews" in path:
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "status": {"allowed": True},
        }
    parts = path.strip("/").split("/")
    is_one = parts[-1] not in KINDS and method != "POST"
    kind = KINDS.get(parts[-2] if is_one else parts[-1], {"kind": "Other"})
    name = parts[-1] if is_one else "j"
    version = parts[1] if parts[0] == "api" else "/".join(parts[1:3])
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": "u",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": TIME,
        "labels": {**LABELS, "paddlespec.io/inventory": "j"},
        "annotations": {"a": "b"},
        "ownerReferences": [{"kind": "Job", "name": "j", "uid": "u", "controller": True}],
        "managedFields": [
            {
                "manager": "paddlespec",
                "operation": "Apply",
                "fieldsV1": {"f:spec": {"f:parallelism": {}, "f:template": {"f:spec": {".": {}}}}},
            }
        ],
    }
    whole = {"apiVersion": version, "metadata": metadata, **kind}
    return whole if is_one or method == "POST" else {"metadata": {}, "items": [whole]}


def stored(answer: Any) -> Any:
    """Return *answer* with the documents inside of ConfigMaps as text, which is how they arrive."""
    if isinstance(answer, dict):
        if answer.get("kind") == "ConfigMap" and isinstance(data := answer.get("data"), dict):
            texts = {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in data.items()
            }
            return {**answer, "data": texts}
        if isinstance(items := answer.get("items"), list):
            return {**answer, "items": [stored(item) for item in items]}
    return answer


TARGETS = {"plan": plan, "manifests": manifests, "state": state, "server": server}
