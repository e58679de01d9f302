"""The network of a job: that of the nodes, own ports, and RDMA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from targets import container, manifests, workload

from paddlespec.render import ports
from paddlespec.spec.frozen import job_of

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH = "  command: python -m paddle.distributed.launch train.py\n"
COLLECTIVE = f"  mode: collective\n{LAUNCH}  trainers: {{replicas: 2}}\n"
PS = (
    "  mode: ps\n  command: python train.py\n  trainers: {replicas: 2}\n  pservers: {replicas: 2}\n"
)
LEGACY = PS.replace("mode: ps", "mode: legacy")
HOST = "  network: {host: true}\n"


def pod(folder: Path, spec: str, name: str = "a-trainer") -> dict[str, Any]:
    rendered: dict[str, Any] = workload(folder, spec, name)["spec"]["template"]["spec"]
    return rendered


def env(of: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry.get("value", "") for entry in of["env"]}


def job(name: str, **spec: Any) -> Any:
    document = {"metadata": {"name": name}, "spec": {"mode": "ps", "image": "x", **spec}}
    return job_of(document)


def test_pods_on_the_network_of_the_nodes_ask_the_dns_of_the_cluster(tmp_path: Path) -> None:
    own = pod(tmp_path, COLLECTIVE + HOST)
    assert own["hostNetwork"] is True
    assert own["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert "hostNetwork" not in pod(tmp_path, COLLECTIVE)
    assert "dnsPolicy" not in pod(tmp_path, COLLECTIVE)


def test_every_part_of_a_collective_job_uses_the_port_of_the_network(tmp_path: Path) -> None:
    spec = COLLECTIVE + "  network: {host: true, ports: {master: 30236}}\n"
    main = container(tmp_path, spec)
    assert main["ports"] == [{"name": "master", "containerPort": 30236, "hostPort": 30236}]
    assert env(main)["PADDLE_MASTER"] == "a-trainer-0.a-trainer.$(NS).svc:30236"
    (service,) = (one for one in manifests(tmp_path, spec) if one["kind"] == "Service")
    assert [port["port"] for port in service["spec"]["ports"]] == [30236]


def test_every_part_of_a_ps_job_uses_the_ports_of_the_network(tmp_path: Path) -> None:
    spec = PS + "  network: {ports: {pserver: 30174, gloo: 30175}}\n"
    server = container(tmp_path, spec, "a-pserver")
    assert [port["containerPort"] for port in server["ports"]] == [30174, 30175]
    assert server["readinessProbe"]["tcpSocket"] == {"port": 30174}
    wait = pod(tmp_path, spec)["initContainers"][-1]
    servers = [f"a-pserver-{index}.a-pserver.$(NS).svc:30174" for index in range(2)]
    assert env(wait)["PADDLESPEC_WAIT_FOR"] == f"{servers[0]}|30175,{servers[1]}"
    for one in (server, container(tmp_path, spec)):
        assert env(one)["PADDLE_PORT"] == "30174"
        assert env(one)["PADDLE_PSERVERS_IP_PORT_LIST"] == ",".join(servers)
        assert env(one)["PADDLE_GLOO_HTTP_ENDPOINT"].endswith(":30175")
    services = [one for one in manifests(tmp_path, spec) if one["kind"] == "Service"]
    listed = {port["port"] for one in services for port in one["spec"].get("ports", ())}
    assert listed == {30174, 30175}


def test_the_ports_of_a_legacy_pserver_follow_its_first_one(tmp_path: Path) -> None:
    spec = LEGACY + "  network: {ports: {pserver: 30236}}\n  legacy: {ports: 2}\n"
    server = container(tmp_path, spec, "a-pserver")
    assert [port["containerPort"] for port in server["ports"]] == [30236, 30237, 30238]
    assert env(server)["PADDLE_INIT_PORT"] == "30236"


def test_jobs_on_the_network_of_the_nodes_get_ports_of_their_own() -> None:
    host = {"host": True}
    derived = [ports.of(job(f"job-{index}", network=host)) for index in range(100)]
    pairs = {(own.pserver, own.gloo) for own in derived}
    assert len(pairs) > 95
    assert len({port for pair in pairs for port in pair}) == 2 * len(pairs)
    assert ports.of(job("a", network=host)) == ports.of(job("a", network=host))
    every = [port for own in derived for port in own]
    assert min(every) >= 20_000
    assert max(every) < 30_000


def test_no_two_replicas_that_listen_fit_on_one_node(tmp_path: Path) -> None:
    for spec, name in ((COLLECTIVE, "a-trainer"), (PS, "a-pserver"), (LEGACY, "a-pserver")):
        declared = container(tmp_path, spec + HOST, name)["ports"]
        assert declared
        assert all(port["hostPort"] == port["containerPort"] for port in declared)


def test_replicas_that_never_meet_may_share_a_node(tmp_path: Path) -> None:
    spec = "  mode: parallel\n  command: python shard.py\n  trainers: {replicas: 2}\n"
    assert "ports" not in container(tmp_path, spec + HOST)
    assert pod(tmp_path, spec + HOST)["hostNetwork"] is True


@pytest.mark.parametrize(
    ("rdma", "name", "count"),
    [
        ("true", "rdma/hca", 1),
        ("{count: 2}", "rdma/hca", 2),
        ("{resource: nvidia.com/hostdev}", "nvidia.com/hostdev", 1),
    ],
)
def test_trainers_with_rdma_get_the_device_and_may_lock_memory(
    tmp_path: Path, rdma: str, name: str, count: int
) -> None:
    main = container(tmp_path, COLLECTIVE + f"  network: {{rdma: {rdma}}}\n")
    assert main["resources"]["requests"][name] == str(count)
    assert main["resources"]["limits"][name] == str(count)
    security = {"allowPrivilegeEscalation": False, "capabilities": {"add": ["IPC_LOCK"]}}
    assert main["securityContext"] == security
    assert env(main)["NCCL_IB_DISABLE"] == "0"


def test_pservers_have_no_rdma(tmp_path: Path) -> None:
    server = container(tmp_path, PS + "  network: {rdma: true}\n", "a-pserver")
    assert "rdma/hca" not in str(server.get("resources"))
    assert "capabilities" not in server["securityContext"]
    assert not any(name.startswith("NCCL") for name in env(server))


def test_nccl_keeps_off_the_interfaces_of_containers_on_a_node(tmp_path: Path) -> None:
    spec = COLLECTIVE.replace("replicas: 2", "replicas: 2, resources: {gpu: 1}")
    assert env(container(tmp_path, spec + HOST))["NCCL_SOCKET_IFNAME"].startswith("^lo,docker,")
    assert "NCCL_SOCKET_IFNAME" not in env(container(tmp_path, spec))
    own = "  env: {NCCL_SOCKET_IFNAME: bond0}\n"
    assert env(container(tmp_path, spec + HOST + own))["NCCL_SOCKET_IFNAME"] == "bond0"


@pytest.mark.parametrize(
    "patch",
    [
        "{hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}",
        "{hostNetwork: true, dnsPolicy: None, dnsConfig: {nameservers: [10.0.0.10]}}",
    ],
)
def test_a_patch_to_the_network_of_the_nodes_needs_the_dns_of_the_cluster(
    tmp_path: Path, patch: str
) -> None:
    change = f"  patches: [{{target: {{kind: Job}}, patch: {{spec: {{template: {{spec: {patch}}}}}}}}}]\n"
    assert pod(tmp_path, COLLECTIVE + change)["hostNetwork"] is True


def test_rdma_keeps_the_capabilities_of_the_spec(tmp_path: Path) -> None:
    pod_settings = "{containerSecurityContext: {capabilities: {add: [SYS_PTRACE]}}}"
    spec = COLLECTIVE + f"  network: {{rdma: true}}\n  pod: {pod_settings}\n"
    added = container(tmp_path, spec)["securityContext"]["capabilities"]["add"]
    assert added == ["SYS_PTRACE", "IPC_LOCK"]
