"""A job as stored by a cluster, in YAML, and recorded answers to questions about that cluster."""

from __future__ import annotations

from typing import Any

import yaml

from paddlespec.backends.capabilities import PullSecret
from paddlespec.backends.cluster.place.nodes import Node, counted
from paddlespec.backends.cluster.why.evidence import Evidence

Manifest = dict[str, Any]

JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: fit-trainer
  namespace: ads
  uid: job-uid
  labels: {paddlespec.io/job: fit, paddlespec.io/role: trainers}
spec: {completions: 2, parallelism: 2, template: {spec: {}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata:
  name: fit-trainer-0-abcde
  namespace: ads
  uid: pod-uid
  labels: {paddlespec.io/role: trainers, batch.kubernetes.io/job-completion-index: "0"}
  ownerReferences: [{kind: Job, name: fit-trainer, uid: job-uid}]
spec:
  containers: [{name: paddle, image: "registry.test/team/train:1", resources: {}}]
status: {phase: Pending}
"""


class Loader(yaml.SafeLoader):
    """Load timestamps as strings, as the API server sends them."""


Loader.yaml_implicit_resolvers = {
    key: [resolver for resolver in listed if resolver[0] != "tag:yaml.org,2002:timestamp"]
    for key, listed in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def loaded(text: str) -> Any:
    return yaml.load(text, Loader)


class Recorded:
    """Implement `Ask` from recorded objects; a kind without objects counts as unreadable."""

    def __init__(self, text: str = "", *, logs: str = "", none_of: tuple[str, ...] = ()) -> None:
        listed = yaml.load_all(text, Loader)
        self.objects: list[Manifest] = [item for item in listed if item]
        self.logs, self.none_of = logs, none_of
        self.asked: list[str] = []

    def events(self, uid: str) -> list[Manifest]:
        self.asked.append("events")
        own = self._all("Event")
        return [event for event in own if event["involvedObject"]["uid"] == uid]

    def happened(self, reason: str) -> list[Manifest]:
        self.asked.append(reason)
        return [event for event in self._all("Event") if event["reason"] == reason]

    def nodes(self) -> list[Node] | None:
        self.asked.append("nodes")
        listed = self._all("Node")
        pods = [pod for pod in self._all("Pod") if "nodeName" in pod["spec"]]
        return counted(listed, pods) if listed else None

    def pull_secrets(self) -> list[PullSecret] | None:
        self.asked.append("pull secrets")
        if not any(item["kind"] == "PullSecrets" for item in self.objects):
            return None
        (known,) = self._all("PullSecrets")
        return [PullSecret(name, tuple(of), (), True, "") for name, of in known["known"].items()]

    def find(self, group: str, kind: str) -> list[Manifest] | None:
        self.asked.append(kind)
        objects = [
            item for item in self._all(kind) if item["apiVersion"].rpartition("/")[0] == group
        ]
        return objects if objects or kind in self.none_of else None

    def last_lines(self, pod: Manifest, container: str, count: int) -> list[str]:
        self.asked.append(f"log of {pod['metadata']['name']} {container}")
        return self.logs.splitlines()[-count:]

    def _all(self, kind: str) -> list[Manifest]:
        return [item for item in self.objects if item["kind"] == kind]


def pod(text: str = "{}", **fields: str) -> Manifest:
    """Build a pending trainer pod; *text* is its status."""
    manifest: Manifest = loaded(POD)
    manifest["status"] |= loaded(text)
    for name, value in fields.items():
        place, _, key = name.partition("__")
        manifest[place][key] = loaded(value)
    return manifest


def workload(text: str = "{}", **spec: Any) -> Manifest:
    """Build the Job of the trainers; *text* is its status."""
    manifest: Manifest = loaded(JOB)
    manifest["spec"] |= spec
    return {**manifest, "status": loaded(text)}


def evidence(
    *pods: Manifest,
    ask: Recorded | None = None,
    job: Manifest | None = None,
    mode: str = "collective",
    role: str = "trainers",
) -> Evidence:
    return Evidence("ads", role, job or workload(), pods, ask or Recorded(), mode)


def event(uid: str, reason: str, message: str) -> str:
    """Build the YAML document of an event."""
    document = {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"kind": "Job", "uid": uid},
        "reason": reason,
        "message": message,
    }
    return f"---\n{yaml.safe_dump(document)}"
