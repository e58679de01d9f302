"""The real API server accepts the kinds of jobs that people run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
    from control_plane import ControlPlane

REFUSED = {"elastic"}
SPECS = sorted((Path(__file__).parents[3] / "real").glob("*.yaml"))


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def test_the_server_accepts_what_people_run(user: User, extensions: Any) -> None:
    extensions("jobset", "kueue")
    valid = [str(file) for file in SPECS if file.stem not in REFUSED]
    user.run("apply", *valid, "--dry-run", "server")
