"""The kinds of other projects are installed from their modules and removed completely."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from control_plane import GoMissingError
from control_plane.extensions import SOURCES, installed
from user import User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

SERVED = {
    "kueue": "kueue.x-k8s.io/v1beta2",
    "volcano": "scheduling.volcano.sh/v1beta1",
    "jobset": "jobset.x-k8s.io/v1alpha2",
    "kubeflow": "kubeflow.org/v1",
}


def kinds(user: User) -> dict[str, list[str]]:
    checks = json.loads(user.run("config", "check", "-o", "json").stdout)["checks"]
    return {
        check["name"]: [check["state"], check["detail"]]
        for check in checks
        if check["what"] == "kind"
    }


@pytest.mark.parametrize("name", SOURCES)
def test_an_extension_is_served_and_then_forgotten(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, name: str
) -> None:
    user = User.admin(control_plane, namespace, tmp_path)
    before = kinds(user)
    assert before[name][0] == "absent"
    try:
        with installed(control_plane, name):
            assert kinds(user) == {**before, name: ["ok", SERVED[name]]}
    except GoMissingError as error:
        pytest.skip(str(error))
    assert kinds(user) == before
