"""A user of the command line: a folder with specs, a namespace, and the objects in the cluster."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError

import outputs
import yaml
from forked import Ended, Process, common, ended

if TYPE_CHECKING:
    from control_plane import ControlPlane

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = (sys.executable, "-m", "paddlespec")

PS = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: NAME}
spec:
  mode: ps
  image: registry.test/paddle:1
  command: python train.py
  env: {PASSWORD: canary-hunter2}
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
  pservers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
"""
# The fake kubelet obeys marks on pods, which only a template may set, not a patch.
WORKLOAD = EXAMPLES.parent / "templates" / "kubernetes" / "workload.yaml.j2"
LABELS = "      labels: {{ pod.labels }}\n"
MARKED = (
    LABELS
    + """\
      {% if pod.labels["paddlespec.io/role"] == "trainers" %}
      annotations: MARKS
      {% endif %}
"""
)


class User(NamedTuple):
    """A user with a kubeconfig at a shell."""

    plane: ControlPlane
    namespace: str
    folder: Path
    kubeconfig: Path

    @classmethod
    def admin(cls, plane: ControlPlane, namespace: str, folder: Path) -> User:
        return cls(plane, namespace, folder, plane.kubeconfig_for("admin", namespace))

    def write(self, text: str, name: str = "paddlejob.yaml") -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def ps(self, name: str = "fit", **annotations: str) -> str:
        """A spec of two trainers and two pservers, marked for the fake kubelet."""
        if annotations:
            self.mark(**annotations)
        return self.write(PS.replace("NAME", name), f"{name}.yaml")

    def mark(self, **annotations: str) -> None:
        """Mark trainers for the fake kubelet in all later renderings."""
        marks = {f"paddlespec.io/test-{k.replace('_', '-')}": v for k, v in annotations.items()}
        text = WORKLOAD.read_text(encoding="utf-8")
        assert LABELS in text
        path = self.templates / "kubernetes" / WORKLOAD.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            text.replace(LABELS, MARKED.replace("MARKS", repr(marks))), encoding="utf-8"
        )

    @property
    def templates(self) -> Path:
        return self.folder / "templates"

    @property
    def environment(self) -> dict[str, str]:
        home = {"HOME": str(self.folder), "KUBECONFIG": str(self.kubeconfig), "NO_PROXY": "*"}
        # A developer's own settings must not affect a test.
        own = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        return {**own, **home}

    def start(self, *arguments: str) -> Process:
        """Start a command without waiting for its end."""
        return common().start(
            *self._completed(arguments), folder=self.folder, environment=self.environment
        )

    def run(self, *arguments: str, code: int = 0) -> Ended:
        """Run a command, which must end with *code*, never with a traceback or a secret."""
        ended = self.attempt(*arguments)
        assert ended.code == code, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr
        # What a client-side dry run prints are the manifests themselves.
        shown = ended.stderr if "client" in arguments else ended.stdout + ended.stderr
        assert "canary" not in shown
        outputs.check(arguments, ended.stdout)
        return ended

    def code(self, *arguments: str) -> int:
        """Run a command that may fail; return its exit code."""
        return self.attempt(*arguments).code

    def attempt(self, *arguments: str) -> Ended:
        """Run a command that may end in any way."""
        return ended(self.start(*arguments))

    def _completed(self, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """*arguments* with the templates that bear marks for the fake kubelet, if there are any."""
        if arguments[0] in ("apply", "render", "diff") and self.templates.exists():
            return (*arguments, "--templates", str(self.templates))
        return arguments

    def get(self, kind: str, name: str) -> Any:
        return self.plane.request("GET", f"{self.path(kind)}/{name}")

    def get_or_none(self, kind: str, name: str) -> Any:
        try:
            return self.get(kind, name)
        except HTTPError as error:
            if error.code != 404:
                raise
            return None

    def all(self, kind: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.plane.request("GET", self.path(kind))["items"]
        return items

    def names(self, kind: str) -> list[str]:
        return [live["metadata"]["name"] for live in self.all(kind)]

    def path(self, kind: str) -> str:
        groups = {
            "jobs": "/apis/batch/v1",
            "statefulsets": "/apis/apps/v1",
            "leases": "/apis/coordination.k8s.io/v1",
            "jobsets": "/apis/jobset.x-k8s.io/v1alpha2",
            "paddlejobs": "/apis/kubeflow.org/v1",
            "localqueues": "/apis/kueue.x-k8s.io/v1beta2",
            "workloads": "/apis/kueue.x-k8s.io/v1beta2",
        }
        return f"{groups.get(kind, '/api/v1')}/namespaces/{self.namespace}/{kind}"

    def pods(self, role: str) -> list[dict[str, Any]]:
        return [
            pod
            for pod in self.all("pods")
            if pod["metadata"]["labels"]["paddlespec.io/role"] == role
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def running(self, role: str) -> int:
        return sum(pod["status"]["phase"] == "Running" for pod in self.pods(role))

    def phases(self, job: str) -> list[str]:
        """The phases of the pods of one Job."""
        return [
            pod["status"]["phase"]
            for pod in self.all("pods")
            if pod["metadata"]["labels"].get("job-name") == job
        ]

    def everything(self) -> dict[str, Any]:
        """
        Return every object that an apply may touch, and the UIDs of the pods.

        What controllers report of an object is left out: they may report it later.
        """
        return {name: _without_reports(live) for name, live in self._raw().items()}

    def _raw(self) -> dict[str, Any]:
        kinds = ("jobs", "statefulsets", "services", "configmaps", "persistentvolumeclaims")
        objects = {
            f"{kind}/{live['metadata']['name']}": live
            for kind in kinds
            for live in self.all(kind)
            if live["metadata"]["name"] != "kube-root-ca.crt"
        }
        pods = {
            f"pods/{pod['metadata']['name']}": pod["metadata"]["uid"] for pod in self.all("pods")
        }
        return {**objects, **pods}

    def objects(self) -> dict[str, Any]:
        """Return all objects except those that outlive a run: the inventories."""
        return {key: value for key, value in self.everything().items() if ".paddlespec" not in key}

    def history(self, name: str = "fit") -> list[dict[str, Any]]:
        """Return the recorded runs of a job, oldest first."""
        data = self.get("configmaps", f"{name}.paddlespec")["data"]
        runs: list[dict[str, Any]] = json.loads(data["runs.json"])
        return runs

    def settled(self) -> dict[str, Any]:
        """Return everything, once the controllers have nothing left to write."""
        seen: list[dict[str, Any]] = []

        def unchanged() -> bool:
            time.sleep(0.5)
            seen.append(self._raw())
            return (
                len(seen) > 3
                and all(state == seen[-1] for state in seen[-4:])
                and not any(_lacks_pods(name, live) for name, live in seen[-1].items())
            )

        # The Job controller collects changes for a second before it writes them.
        self.plane.eventually(unchanged)
        return {name: _without_reports(live) for name, live in seen[-1].items()}

    def writes(self) -> list[str]:
        """Return the requests that changed something here, as `verb resource/name`."""
        return [
            f"{event['verb']} {event['objectRef']['resource']}/{event['objectRef'].get('name')}"
            for event in self.plane.audit(user="admin", namespace=self.namespace)
            if event["verb"] in ("create", "patch", "update", "delete")
            and "dryRun" not in event["requestURI"]
            and event.get("userAgent", "").startswith("paddlespec")
        ]


def _lacks_pods(name: str, live: Any) -> bool:
    """Whether a controller has yet to create pods."""
    if name.startswith("jobs/"):
        status = live.get("status", {})
        ended = {row["type"] for row in status.get("conditions", ()) if row["status"] == "True"}
        if live["spec"].get("suspend") or ended & {"Complete", "Failed", "Suspended"}:
            return False
        pods = sum(status.get(key, 0) for key in ("active", "succeeded", "failed"))
        return bool(pods < live["spec"]["parallelism"])
    if name.startswith("statefulsets/"):
        return bool(live["status"].get("replicas", 0) < live["spec"]["replicas"])
    return False


def _without_reports(live: Any) -> Any:
    """Return an object without its status, and what a change of its status changes."""
    if not isinstance(live, dict):
        return live
    metadata = {key: value for key, value in live["metadata"].items() if key != "resourceVersion"}
    if "managedFields" in metadata:
        metadata["managedFields"] = [
            entry for entry in metadata["managedFields"] if entry.get("subresource") != "status"
        ]
    return {**{key: value for key, value in live.items() if key != "status"}, "metadata": metadata}


def conditions(live: dict[str, Any]) -> set[str]:
    """Return the conditions of an object that hold."""
    listed = live.get("status", {}).get("conditions", [])
    return {condition["type"] for condition in listed if condition["status"] == "True"}


def documents(text: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(text) if document]
