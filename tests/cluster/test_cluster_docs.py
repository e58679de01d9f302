"""Every command in README and docs that needs a cluster, run on the test control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pages import Block, copy_checkout, environment, of, run

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane


@of("cluster")
def test_cluster_commands(
    block: Block, tmp_path: Path, control_plane: ControlPlane, namespace: str
) -> None:
    kubeconfig = control_plane.kubeconfig_for("admin", namespace)
    variables = {**environment(tmp_path), "KUBECONFIG": str(kubeconfig)}
    run(block, copy_checkout(tmp_path), variables)
