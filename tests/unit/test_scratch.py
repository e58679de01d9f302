"""What a scratch container has of a replica, and what not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from targets import manifests

from paddlespec.render.environment import is_managed
from paddlespec.render.roles import PADDLE as ROLES
from paddlespec.targets.shell import SHELL_LABEL, scratch, workload

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.render.roles import RoleName

PS = """\
  mode: ps
  command: python train.py
  env: {OWN: value}
  output: /out
  outputPolicy: clear
  volumes: [{name: out, mountPath: /out, claim: results}]
  trainers: {replicas: 3}
  pservers: {replicas: 2, workload: StatefulSet}
"""
LEGACY = """\
  mode: legacy
  command: python train.py
  trainers: {replicas: 2}
  pservers: {replicas: 1}
"""
VOLCANO = """\
  mode: parallel
  command: python shard.py
  scheduling: {scheduler: volcano, gang: true}
"""


def shell(folder: Path, spec: str, role: RoleName = "trainers") -> dict[str, Any]:
    found = workload(manifests(folder, spec), role)
    assert found
    (job,) = scratch(found, [], "a", "a-shell", 90)
    return job


def test_it_ends_by_itself_whatever_it_is_made_of(tmp_path: Path) -> None:
    for role in ROLES:
        job = shell(tmp_path, PS, role)
        assert (job["kind"], job["metadata"]["name"]) == ("Job", "a-shell")
        assert job["spec"]["activeDeadlineSeconds"] == 90
        assert job["spec"]["backoffLimit"] == 0
        assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def test_no_peer_and_no_command_takes_it_for_a_part_of_the_job(tmp_path: Path) -> None:
    for role in ROLES:
        job = shell(tmp_path, PS, role)
        for each in (job, job["spec"]["template"]):
            labels = each["metadata"]["labels"]
            assert labels[SHELL_LABEL] == "a"
            assert not {"paddlespec.io/job", "paddlespec.io/role"} & labels.keys()
        pod = job["spec"]["template"]["spec"]
        assert "subdomain" not in pod
        assert "readinessProbe" not in pod["containers"][0]


def test_it_has_the_users_variables_and_none_of_the_rendezvous(tmp_path: Path) -> None:
    (container,) = shell(tmp_path, PS)["spec"]["template"]["spec"]["containers"]
    names = [each["name"] for each in container["env"]]
    own = ("NS", "IDX", "PADDLESPEC_")
    assert "OWN" in names
    assert "PADDLESPEC_OUTPUT" in names
    assert [each for each in names if is_managed(each) and not each.startswith(own)] == []
    assert {"name": "IDX", "value": "0"} in container["env"]


def test_results_are_left_alone_and_nobody_is_waited_for(tmp_path: Path) -> None:
    pod = shell(tmp_path, PS)["spec"]["template"]["spec"]
    assert "initContainers" not in pod
    assert any(each["mountPath"] == "/out" for each in pod["containers"][0]["volumeMounts"])


def test_a_legacy_trainer_has_its_files(tmp_path: Path) -> None:
    (step,) = shell(tmp_path, LEGACY)["spec"]["template"]["spec"]["initContainers"]
    assert step["name"] == "identity"
    assert step["env"] == [{"name": "IDX", "value": "0"}]


def test_it_is_no_member_of_a_gang(tmp_path: Path) -> None:
    template = shell(tmp_path, VOLCANO)["spec"]["template"]
    assert "annotations" not in template["metadata"]
    assert template["spec"]["schedulerName"] == "volcano"


def test_its_code_is_a_copy_of_its_own(tmp_path: Path) -> None:
    found = workload(manifests(tmp_path, PS), "trainers")
    assert found
    volume = {"name": "code", "configMap": {"name": "a-code-1"}}
    found.pods.pod["volumes"].append(volume)
    code = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-code-1"}, "data": {}}
    job, copy = scratch(found, [code], "a", "a-shell", 90)
    named = job["spec"]["template"]["spec"]["volumes"][-1]["configMap"]["name"]
    assert named == copy["metadata"]["name"] == "a-shell-1"
