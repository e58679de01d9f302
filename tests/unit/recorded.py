"""A job as a cluster holds it, written down in YAML, and what may be asked of that cluster."""

from __future__ import annotations

from typing import Any

import yaml

from paddlespec.cluster.nodes import Node, counted
from paddlespec.cluster.pull_secrets import Registry
from paddlespec.cluster.why.evidence import Evidence

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
    """Times stay texts, as the API server sends them."""


Loader.yaml_implicit_resolvers = {
    key: [each for each in listed if each[0] != "tag:yaml.org,2002:timestamp"]
    for key, listed in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def loaded(text: str) -> Any:
    return yaml.load(text, Loader)


class Recorded:
    """Satisfies `Ask` from what is written down; a kind that is not written down may not be read."""

    def __init__(self, text: str = "", *, logs: str = "", none_of: tuple[str, ...] = ()) -> None:
        listed = yaml.load_all(text, Loader)
        self.objects: list[Manifest] = [each for each in listed if each]
        self.logs, self.none_of = logs, none_of
        self.asked: list[str] = []

    def events(self, uid: str) -> list[Manifest]:
        self.asked.append("events")
        own = self._all("Event")
        return [each for each in own if each["involvedObject"]["uid"] == uid]

    def happened(self, reason: str) -> list[Manifest]:
        self.asked.append(reason)
        return [each for each in self._all("Event") if each["reason"] == reason]

    def nodes(self) -> list[Node] | None:
        self.asked.append("nodes")
        listed = self._all("Node")
        pods = [each for each in self._all("Pod") if "nodeName" in each["spec"]]
        return counted(listed, pods) if listed else None

    def pull_secrets(self) -> list[Registry] | None:
        self.asked.append("pull secrets")
        if not any(each["kind"] == "PullSecrets" for each in self.objects):
            return None
        (known,) = self._all("PullSecrets")
        return [Registry(name, tuple(of), (), True, "") for name, of in known["known"].items()]

    def find(self, group: str, kind: str) -> list[Manifest] | None:
        self.asked.append(kind)
        found = [each for each in self._all(kind) if each["apiVersion"].rpartition("/")[0] == group]
        return found if found or kind in self.none_of else None

    def last_lines(self, pod: Manifest, container: str, count: int) -> list[str]:
        self.asked.append(f"log of {pod['metadata']['name']} {container}")
        return self.logs.splitlines()[-count:]

    def _all(self, kind: str) -> list[Manifest]:
        return [each for each in self.objects if each["kind"] == kind]


def pod(text: str = "{}", **fields: str) -> Manifest:
    """A pending trainer, with other fields; *text* is its status."""
    found: Manifest = loaded(POD)
    found["status"] |= loaded(text)
    for name, value in fields.items():
        place, _, key = name.partition("__")
        found[place][key] = loaded(value)
    return found


def workload(text: str = "{}", **spec: Any) -> Manifest:
    """The Job of the trainers, with other fields; *text* is its status."""
    found: Manifest = loaded(JOB)
    found["spec"] |= spec
    return {**found, "status": loaded(text)}


def evidence(
    *pods: Manifest,
    ask: Recorded | None = None,
    job: Manifest | None = None,
    mode: str = "collective",
    role: str = "trainers",
) -> Evidence:
    return Evidence("ads", role, job or workload(), pods, ask or Recorded(), mode)


def event(uid: str, reason: str, message: str) -> str:
    """An event as a document."""
    found = {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"kind": "Job", "uid": uid},
        "reason": reason,
        "message": message,
    }
    return f"---\n{yaml.safe_dump(found)}"
