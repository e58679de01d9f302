"""The commands with a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from command_contract import CommandContract, Refused
from user import User

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from command_contract import Ends
    from control_plane import ControlPlane
    from forked import Ended

MARKS: dict[Ends, dict[str, str]] = {
    "succeeded": {"run_for": "1s"},
    "failed": {"run_for": "1s", "fail": "3"},
    "never": {"run_for": "1h"},
}


@dataclass(frozen=True)
class Kubernetes:
    """A user with their own namespace."""

    user: User

    target = "kubernetes"
    # The log of every container of the fake kubelet.
    line = "pass 0"
    refused: Sequence[Refused] = ()

    def job(self, name: str, ends: Ends) -> str:
        return self.user.ps(name, **MARKS[ends])

    def run(self, *arguments: str, code: int = 0) -> Ended:
        return self.user.run(*arguments, code=code)


@pytest.fixture
def place(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Kubernetes:
    """Give a user of the control plane."""
    return Kubernetes(User.admin(control_plane, namespace, tmp_path))


class TestCluster(CommandContract):
    """Every command with a real API server."""
