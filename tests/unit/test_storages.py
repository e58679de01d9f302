"""How full claims are, as kubelets tell it: the test control plane has none that measures."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.client.configuration import Configuration

from paddlespec.cluster.client import Client
from paddlespec.cluster.connection import Connection
from paddlespec.cluster.storages import storages
from paddlespec.report.storages import claim_data, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = "/api/v1/nodes"


def claim(name: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": spec}


def pod(node: str, *claims: str) -> dict[str, Any]:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    spec = {"nodeName": node, "volumes": [*volumes, {"name": "shm", "emptyDir": {}}]}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


def summary(**used: int) -> dict[str, Any]:
    volumes = [
        {"name": each, "usedBytes": amount, "pvcRef": {"name": each, "namespace": "ns"}}
        for each, amount in used.items()
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
    """A connection to a server that knows these answers, and forbids the rest."""
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
        own = Client(Connection(configuration, "ns"))
        yield own
        own.close()
        server.shutdown()


def test_a_kubelet_tells_how_full_the_claims_are_that_its_pods_mount(client: Client) -> None:
    found = storages(client, "ns")
    assert {each.name: claim_data(each)["used"] for each in found.claims} == {
        "home": "512Mi",
        "data": "5",
        "idle": None,
    }
    text = table(found.claims, found.classes, (), spaces=False, wide=False, width=None)
    assert text.splitlines()[1].split()[:4] == ["home", "Pending", "1Gi", "512Mi"]


def test_each_claim_costs_one_kubelet_at_most(client: Client, asked: list[str]) -> None:
    storages(client, "ns")
    assert [each for each in asked if each.startswith(NODES)] == [f"{NODES}/n1/proxy/stats/summary"]


def test_whoever_may_not_ask_kubelets_sees_no_use(
    client: Client, answers: dict[str, Any], asked: list[str]
) -> None:
    answers["/api/v1/namespaces/ns/pods"] = {"items": [pod("n1", "home"), pod("n2", "data")]}
    del answers[f"{NODES}/n1/proxy/stats/summary"]
    found = storages(client, "ns")
    assert [each.used for each in found.claims] == [None] * 3
    assert found.unknown == ()
    assert sum(each.startswith(NODES) for each in asked) == 1
