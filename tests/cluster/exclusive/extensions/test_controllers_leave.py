"""A stopped controller leaves nothing behind, because other tests rely on its absence."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.error import HTTPError

import kueue
import pytest
from control_plane.controllers import running
from test_extensions import kinds
from user import User

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from control_plane import ControlPlane


HOOKS = "/apis/admissionregistration.k8s.io/v1"


def hooks(plane: ControlPlane) -> list[str]:
    return [
        hook["metadata"]["name"]
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
        for hook in plane.request("GET", f"{HOOKS}/{kind}")["items"]
    ]


def submit_jobset(user: User) -> None:
    template = {"spec": kueue.job_spec(marks={"run_for": "1h"})}
    spec = {"replicatedJobs": [{"name": "trainers", "template": template}]}
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "fit", "finalizers": ["paddlespec.io/test"]},
        "spec": spec,
    }
    user.plane.request("POST", user.path("jobsets"), manifest)
    user.plane.eventually(lambda: user.phases("fit-trainers-0") == ["Running"] * 2)


def submit_queued(user: User) -> None:
    with kueue.quota(user, kueue.one_flavor(cpu=3)):
        kueue.submit(user, "fit", run_for="1h")
        user.plane.eventually(lambda: user.phases("fit") == ["Running"] * 2)


@pytest.mark.parametrize(("name", "submit"), [("jobset", submit_jobset), ("kueue", submit_queued)])
def test_a_stopped_controller_leaves_nothing_behind(
    control_plane: ControlPlane,
    namespace: str,
    tmp_path: Path,
    built: Callable[[str], None],
    name: str,
    submit: Callable[[User], None],
) -> None:
    user = User.admin(control_plane, namespace, tmp_path)
    before = kinds(user), hooks(control_plane)
    built(name)
    with running(control_plane, name):
        submit(user)
        assert kinds(user)[name][0] == "ok"
    assert (kinds(user), hooks(control_plane)) == before
    control_plane.eventually(lambda: is_absent(control_plane, f"{name}-system"), within=60)


def is_absent(plane: ControlPlane, namespace: str) -> bool:
    try:
        plane.request("GET", f"/api/v1/namespaces/{namespace}")
    except HTTPError as error:
        return error.code == 404
    return False
