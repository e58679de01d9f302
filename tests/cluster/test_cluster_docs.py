"""Every command in README and docs that needs a cluster, run on the test control plane."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import yaml
from pages import Block, copy_checkout, environment, of, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from control_plane import ControlPlane

# What the project file of examples/gpu-multi-node expects to exist.
PROJECT, CONTEXT, NAMESPACE = "gpu-multi-node", "k8s-dc1", "ads"


def in_project(block: Block) -> bool:
    return any(PROJECT in command for command, _ in block.commands)


@pytest.fixture
def kubeconfig(
    block: Block,
    control_plane: ControlPlane,
    namespace: str,
    tmp_path: Path,
    one_at_a_time: Callable[[str], AbstractContextManager[object]],
) -> Iterator[Path]:
    """A reader's kubeconfig: its own namespace, and the datacenter that the examples name."""
    path = tmp_path / "kubeconfig"
    settings = yaml.safe_load(control_plane.kubeconfig_for("admin", namespace).read_text())
    (own,) = settings["contexts"]
    known = {**own["context"]}
    del known["namespace"]
    settings["contexts"].append({"name": CONTEXT, "context": known})
    path.write_text(yaml.safe_dump(settings))
    if not in_project(block):
        yield path
        return
    with one_at_a_time(NAMESPACE):
        control_plane.kubectl("create", "namespace", NAMESPACE)
        yield path
        control_plane.kubectl("delete", "namespace", NAMESPACE, "--wait=true")


@of("cluster")
def test_cluster_commands(
    block: Block, control_plane: ControlPlane, tmp_path: Path, kubeconfig: Path
) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    variables = {**environment(tmp_path), "KUBECONFIG": str(kubeconfig)}
    kubectl = os.path.dirname(control_plane.kubectl_binary)
    variables["PATH"] += f"{os.pathsep}{kubectl}"
    run(block, copy_checkout(folder), variables)
