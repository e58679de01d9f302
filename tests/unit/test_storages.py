"""The usage of claims as reported by kubelets, which the test control plane does not have."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.client.configuration import Configuration

from paddlespec.backends.cluster.api.client import Client
from paddlespec.backends.cluster.api.connection import Connection
from paddlespec.backends.cluster.place.storages import storages
from paddlespec.report.storages import claim_data, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = "/api/v1/nodes"


def claim(name: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"},
        "spec": spec,
    }


def pod(node: str, *claims: str) -> dict[str, Any]:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    spec = {
        "nodeName": node,
        "containers": [{"name": "main"}],
        "volumes": [*volumes, {"name": "shm", "emptyDir": {}}],
    }
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": node, "resourceVersion": "1"},
        "spec": spec,
    }


def summary(**used: int) -> dict[str, Any]:
    volumes = [
        {"name": name, "usedBytes": amount, "pvcRef": {"name": name, "namespace": "ns"}}
        for name, amount in used.items()
    ]
    return {"pods": [{"volume": [*volumes, {"name": "shm", "usedBytes": 1}]}, {}]}


ANSWERS: dict[str, Any] = {
    "/api/v1/namespaces/ns/persistentvolumeclaims": {
        "items": [claim("home"), claim("data"), claim("idle")]
    },
    "/api/v1/namespaces/ns/pods": {"items": [pod("n1", "home", "data"), pod("n2", "home")]},
    "/apis/storage.k8s.io/v1": {"resources": [{"kind": "StorageClass", "name": "storageclasses"}]},
    "/apis/storage.k8s.io/v1/storageclasses": {"items": []},
    f"{NODES}/n1/proxy/stats/summary": summary(home=512 * 2**20, data=5),
}


@pytest.fixture
def answers() -> dict[str, Any]:
    return dict(ANSWERS)


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def client(
    answers: dict[str, Any], asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    """Connect to a server that gives these answers and forbids everything else."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked.append(path)
            content = json.dumps(answers.get(path, {})).encode()
            self.send_response(200 if path in answers else 403)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        configuration = Configuration()
        configuration.host = f"http://127.0.0.1:{server.server_port}"
        own = Client(Connection.of(configuration, "ns"))
        yield own
        own.close()
        server.shutdown()


def test_the_usage_of_claims_comes_from_kubelets(client: Client) -> None:
    result = storages(client, "ns")
    assert {claim.name: claim_data(claim)["used"] for claim in result.claims} == {
        "home": "512Mi",
        "data": "5",
        "idle": None,
    }
    text = table(result.claims, result.classes, (), spaces=False, wide=False, width=None)
    assert text.splitlines()[1].split()[:4] == ["home", "Pending", "1Gi", "512Mi"]


def test_at_most_one_kubelet_is_asked_per_claim(client: Client, asked: list[str]) -> None:
    storages(client, "ns")
    assert [path for path in asked if path.startswith(NODES)] == [f"{NODES}/n1/proxy/stats/summary"]


def test_without_the_right_to_ask_kubelets_usage_is_unknown(
    client: Client, answers: dict[str, Any], asked: list[str]
) -> None:
    answers["/api/v1/namespaces/ns/pods"] = {"items": [pod("n1", "home"), pod("n2", "data")]}
    del answers[f"{NODES}/n1/proxy/stats/summary"]
    result = storages(client, "ns")
    assert [claim.used for claim in result.claims] == [None] * 3
    assert result.unknown == ()
    assert sum(path.startswith(NODES) for path in asked) == 1
