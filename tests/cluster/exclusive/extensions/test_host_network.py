"""The network of a job, as the real API server, controllers and scheduler see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from targets import HEAD
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

RESOURCES = "resources: {cpu: 1, memory: 1Gi}"
TWO = f"  trainers: {{replicas: 2, {RESOURCES}}}\n"
COLLECTIVE = f"  mode: collective\n  command: python -m paddle.distributed.launch train.py\n{TWO}"
PS = f"  mode: ps\n  command: python train.py\n{TWO}  pservers: {{replicas: 2, {RESOURCES}}}\n"
HOST = "  network: {host: true}\n"


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def test_replicas_on_the_network_of_the_nodes_find_each_other(user: User) -> None:
    path = user.write(HEAD + PS + HOST)
    user.mark(run_for="1h")
    user.run("apply", path, "--wait", "ready")
    for pod in user.all("pods"):
        assert pod["spec"]["hostNetwork"] is True
        assert pod["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"
    # The names that the cluster's DNS has, at the address of the node.
    named = {(pod["spec"]["hostname"], pod["spec"]["subdomain"]) for pod in user.all("pods")}
    roles = ("pserver", "trainer")
    assert named == {(f"a-{role}-{index}", f"a-{role}") for role in roles for index in range(2)}
    # Defaults of the server are no differences.
    user.run("diff", path)


def test_no_two_replicas_that_listen_share_a_node(user: User) -> None:
    user.mark(run_for="1h")
    user.run("apply", user.write(HEAD + COLLECTIVE + HOST), "--wait", "ready")
    assert len({pod["spec"]["nodeName"] for pod in user.pods("trainers")}) == 2


def test_a_job_without_a_node_whose_port_is_free_says_so(user: User) -> None:
    user.mark(run_for="1h")
    spec = COLLECTIVE + "  network: {host: true, ports: {master: 30237}}\n"
    user.run("apply", user.write(HEAD + spec.replace("replicas: 2", "replicas: 3")))
    other = user.write(HEAD.replace("name: a", "name: b") + spec, "other.yaml")
    user.plane.eventually(lambda: user.running("trainers") == 3, within=30)
    user.run("apply", other)
    user.plane.eventually(lambda: "free ports" in user.run("status", "b").stdout, within=30)
    assert user.running("trainers") == 3


@pytest.mark.parametrize(
    "network",
    [
        "{rdma: true}",
        "{host: true, rdma: {resource: nvidia.com/hostdev, count: 8}}",
        "{host: true, ports: {pserver: 30174, gloo: 30175}}",
    ],
)
@pytest.mark.parametrize("workload", ["Job", "StatefulSet"])
def test_the_server_accepts_every_network(user: User, network: str, workload: str) -> None:
    spec = PS.replace("pservers: {", f"pservers: {{workload: {workload}, ")
    path = user.write(HEAD + spec + f"  network: {network}\n")
    user.run("apply", path, "--dry-run", "server")


def test_a_job_set_accepts_the_network_of_the_nodes(user: User, extensions: Any) -> None:
    extensions("jobset")
    path = user.write(HEAD + PS + "  network: {host: true, rdma: true}\n")
    user.run("apply", path, "--target", "jobset", "--dry-run", "server")
