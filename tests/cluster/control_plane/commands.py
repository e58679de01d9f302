"""The command line of each server: pure functions from ports and files to arguments."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
LOOPBACK = "127.0.0.1"
# By default a scheduler sends 50 requests a second, which is 15 pods.
UNTHROTTLED = ("--kube-api-qps=1000", "--kube-api-burst=2000")


@dataclass(frozen=True)
class Ports:
    """The loopback ports of one control plane; `pod` is for a test that serves in place of pods."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int
    kubelet: int
    pod: int


def free_ports() -> Ports:
    """Reserve the ports of one control plane."""
    return Ports(*unused_ports(len(fields(Ports))))


def unused_ports(count: int) -> list[int]:
    """Reserve free ports at once, because ports reserved one by one may repeat."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for endpoint in sockets:
            endpoint.bind((LOOPBACK, 0))
        return [endpoint.getsockname()[1] for endpoint in sockets]


def etcd(binaries: Path, folder: Path, ports: Ports) -> Sequence[str]:
    """Skip disk syncs: the data need not survive anything."""
    client, peer = f"http://{LOOPBACK}:{ports.etcd}", f"http://{LOOPBACK}:{ports.etcd_peer}"
    return (
        str(binaries / "etcd"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=error",
    )


def apiserver(binaries: Path, folder: Path, ports: Ports) -> Sequence[str]:
    """
    Serve with a self-signed certificate.

    Its key also signs service account tokens, so no tool has to create a key.
    """
    key = certificates(folder) / "apiserver.key"
    return (
        str(binaries / "kube-apiserver"),
        f"--etcd-servers=http://{LOOPBACK}:{ports.etcd}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.apiserver}",
        f"--cert-dir={certificates(folder)}",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        f"--token-auth-file={folder / 'tokens.csv'}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--disable-admission-plugins=ServiceAccount",
        "--enable-priority-and-fairness=false",
        "--kubelet-preferred-address-types=InternalIP",
        f"--audit-policy-file={HERE / 'audit-policy.yaml'}",
        f"--audit-log-path={folder / 'audit.jsonl'}",
        "--audit-log-mode=blocking",
        # In megabytes: a second file would hide the first one.
        "--audit-log-maxsize=100000",
        "--profiling=false",
    )


def controller_manager(binaries: Path, folder: Path, ports: Ports) -> Sequence[str]:
    """
    Judge nodes by their leases, patiently.

    A stopped API server in a test does not mean that nodes are dead.
    """
    return (
        str(binaries / "kube-controller-manager"),
        f"--kubeconfig={folder / 'controller-manager.kubeconfig'}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.controller_manager}",
        "--leader-elect=false",
        f"--service-account-private-key-file={certificates(folder) / 'apiserver.key'}",
        f"--root-ca-file={certificate(folder)}",
        "--controllers=*,-nodeipam,-cloud-node-lifecycle-controller,-node-route-controller",
        "--node-monitor-period=1s",
        "--resource-quota-sync-period=10s",
        "--node-monitor-grace-period=10m",
        *UNTHROTTLED,
    )


def scheduler(binaries: Path, folder: Path, ports: Ports) -> Sequence[str]:
    """Run a single instance, without leader election."""
    return (
        str(binaries / "kube-scheduler"),
        f"--kubeconfig={folder / 'scheduler.kubeconfig'}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.scheduler}",
        "--leader-elect=false",
        *UNTHROTTLED,
    )


def kubelet(binaries: Path, folder: Path, ports: Ports) -> Sequence[str]:
    """Play the kubelets of all fake nodes by our stages.

    It serves TLS because the API server fetches logs in no other way.
    """
    stages = (f"--config={path}" for path in sorted((HERE / "stages").glob("*.yaml")))
    return (
        str(binaries / "kwok"),
        f"--kubeconfig={folder / 'kubelet.kubeconfig'}",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        f"--node-ip={LOOPBACK}",
        f"--node-port={ports.kubelet}",
        f"--server-address={LOOPBACK}:{ports.kubelet}",
        f"--tls-cert-file={certificate(folder)}",
        f"--tls-private-key-file={certificates(folder) / 'apiserver.key'}",
        "--node-lease-duration-seconds=200",
        "--cidr=10.244.0.1/16",
        *stages,
        f"--config={folder / 'logs.yaml'}",
    )


def certificates(folder: Path) -> Path:
    """Name the folder that the API server writes its certificate to."""
    return folder / "certificates"


def certificate(folder: Path) -> Path:
    """Name the certificate chain, which ends in the authority that clients trust."""
    return certificates(folder) / "apiserver.crt"
