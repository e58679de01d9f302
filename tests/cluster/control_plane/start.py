"""Start the control plane, or attach to a running one."""

from __future__ import annotations

import atexit
import base64
import json
import os
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from control_plane import commands
from control_plane.credentials import token_of, write_kubeconfig, write_tokens
from control_plane.plane import ControlPlane
from control_plane.process import Server, ServerFailedError, launch, stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERE = Path(__file__).parent
START_SECONDS = 90.0
# Nothing listens on this port of any pod.
SILENT_PORT = 80
PREVIOUS_LOG = """\
2025-12-31T23:59:00.000000000Z stdout F before the restart
"""
POD_LOG = """\
2026-01-01T00:00:00.000000000Z stdout F reading the data
2026-01-01T00:00:01.000000000Z stdout F pass 0, loss 0.5
2026-01-01T00:00:02.000000000Z stderr F a warning
2026-01-01T00:00:03.000000000Z stdout F done
"""


@contextmanager
def started(binaries: Path) -> Iterator[ControlPlane]:
    """Run our own control plane for the duration of the block."""
    with (
        tempfile.TemporaryDirectory(
            prefix="paddlespec-cluster-", ignore_cleanup_errors=True
        ) as name,
        ExitStack() as stack,
    ):
        folder = Path(name)
        servers: list[Server] = []
        end = partial(stop, servers)
        stack.callback(atexit.unregister, atexit.register(end))
        stack.callback(end)
        yield bring_up(binaries, folder, servers)


def bring_up(binaries: Path, folder: Path, servers: list[Server]) -> ControlPlane:
    """
    Start the servers in the order of their dependencies.

    Each joins the list before anything can fail, so all are stopped.
    """
    ports = commands.free_ports()
    write_tokens(folder / "tokens.csv")
    write_logs(folder, ports.pod)

    def run(name: str, command: Sequence[str]) -> None:
        servers.append(launch(name, command, folder))

    run("etcd", commands.etcd(binaries, folder, ports))
    run("apiserver", commands.apiserver(binaries, folder, ports))
    server = f"https://{commands.LOOPBACK}:{ports.apiserver}"
    ca = commands.certificate(folder)
    for user in ("admin", "controller-manager", "scheduler", "kubelet"):
        write_kubeconfig(
            folder / f"{user}.kubeconfig", server=server, ca=ca, user=user, token=token_of(user)
        )
    plane = ControlPlane(
        folder / "admin.kubeconfig",
        server,
        ca,
        token_of("admin"),
        folder,
        str(binaries / "kubectl"),
        restarts=partial(restart, servers, folder, f"{server}/readyz"),
        pod_port=ports.pod,
    )
    wait_for(partial(healthy, f"{server}/readyz"), servers, "the API server")
    run("controller-manager", commands.controller_manager(binaries, folder, ports))
    run("scheduler", commands.scheduler(binaries, folder, ports))
    run("kubelet", commands.kubelet(binaries, folder, ports))
    for manifest in ("nodes.yaml", "storage-class.yaml", "priority-classes.yaml"):
        plane.kubectl("create", "-f", str(HERE / "manifests" / manifest))
    for port in (ports.controller_manager, ports.scheduler):
        address = f"https://{commands.LOOPBACK}:{port}/healthz"
        wait_for(partial(healthy, address), servers, address)
    wait_for(partial(nodes_ready, plane), servers, "ready nodes")
    return plane


def restart(servers: list[Server], folder: Path, address: str, name: str) -> None:
    """Stop one server, and start it again unchanged."""
    [number] = [number for number, server in enumerate(servers) if server.name == name]
    stop([servers[number]])
    servers[number] = launch(name, servers[number].command, folder)
    wait_for(partial(healthy, address), servers, f"the API server after the end of {name}")


def write_logs(folder: Path, pod_port: int) -> None:
    """Give every pod one short log, in the format of container runtimes."""
    (folder / "pod.log").write_text(POD_LOG, encoding="utf-8")
    (folder / "previous.log").write_text(PREVIOUS_LOG, encoding="utf-8")
    document = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "every-pod"},
        "spec": {
            "logs": [
                {
                    "logsFile": str(folder / "pod.log"),
                    "previousLogsFile": str(folder / "previous.log"),
                }
            ]
        },
    }
    # A command in any container runs beside the fake kubelet, with one variable of the container.
    logs = {"name": "PADDLE_LOG_DIR", "value": str(folder)}
    beside = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterExec",
        "metadata": {"name": "every-pod"},
        "spec": {"execs": [{"local": {"workDir": str(folder), "envs": [logs]}}]},
    }
    # So may a server, to which every port of every pod leads but one where nothing listens.
    ports = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterPortForward",
        "metadata": {"name": "every-pod"},
        "spec": {
            "forwards": [
                {"ports": [SILENT_PORT], "target": {"address": commands.LOOPBACK, "port": 1}},
                {"target": {"address": commands.LOOPBACK, "port": pod_port}},
            ]
        },
    }
    documents = "\n---\n".join(map(json.dumps, (document, beside, ports)))
    (folder / "logs.yaml").write_text(documents, encoding="utf-8")


def wait_for(ready: Callable[[], bool], servers: Sequence[Server], what: str) -> None:
    """Poll until ready, failing at once with a log when a server has died."""
    deadline = monotonic() + START_SECONDS
    while not ready():
        for server in servers:
            server.check()
        if monotonic() > deadline:
            raise ServerFailedError(
                f"{what}: not up within {START_SECONDS:g} s\n{servers[-1].tail()}"
            )
        sleep(0.05)


def healthy(address: str) -> bool:
    """Check the health of a server, without its certificate, which may not be written yet."""
    context = ssl._create_unverified_context()
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    request = urllib.request.Request(
        address, headers={"Authorization": f"Bearer {token_of('harness')}"}
    )
    try:
        with opener.open(request, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def nodes_ready(plane: ControlPlane) -> bool:
    """
    Report whether pods can be scheduled.

    A new node is tainted until its controller has seen it ready.
    """
    nodes = plane.request("GET", "/api/v1/nodes", token=token_of("harness"))["items"]
    return bool(nodes) and not any(node["spec"].get("taints") for node in nodes)


@contextmanager
def existing(kubeconfig: Path, kubectl: str) -> Iterator[ControlPlane]:
    """Attach to a cluster that is run by someone else."""
    command = [
        kubectl,
        f"--kubeconfig={kubeconfig}",
        "config",
        "view",
        "--raw",
        "--minify",
        "--flatten",
        "-o",
        "json",
    ]
    view = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout
    )
    cluster, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
    with tempfile.TemporaryDirectory(
        prefix="paddlespec-cluster-", ignore_cleanup_errors=True
    ) as name:
        ca = Path(name) / "ca.crt"
        ca.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        yield ControlPlane(
            kubeconfig,
            cluster["server"],
            ca,
            user.get("token", ""),
            Path(name),
            kubectl,
            owned=False,
        )
