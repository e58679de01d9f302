"""Volumes of one role, beside those of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from targets import manifests, workload

from paddlespec.backends.local.prepare import mounts
from paddlespec.backends.local.prepare.mounts import Maps
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.render.manifest import Manifest

SPEC = """\
  mode: ps
  command: python train.py
  volumes: [{name: data, mountPath: /data, claim: shared}]
  trainers: {volumes: [{name: cache, mountPath: /cache, claim: {size: 1Gi}}]}
  pservers: {volumes: [{name: tables, mountPath: /tables, claim: tables}]}
"""


def mounted(folder: Path, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the sources of the volumes of a pod, and where they are mounted."""
    pod = workload(folder, SPEC, name)["spec"]["template"]["spec"]
    sources = {volume.pop("name"): volume for volume in pod["volumes"]}
    paths = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    return sources, paths


def test_a_role_mounts_its_own_volumes_and_those_of_the_spec(tmp_path: Path) -> None:
    sources, paths = mounted(tmp_path, "a-trainer")
    assert paths == {"dshm": "/dev/shm", "data": "/data", "cache": "/cache"}
    assert sources["cache"] == {"persistentVolumeClaim": {"claimName": "a-cache"}}
    sources, paths = mounted(tmp_path, "a-pserver")
    assert paths == {"dshm": "/dev/shm", "data": "/data", "tables": "/tables"}
    assert "cache" not in sources


def test_a_claim_of_a_role_is_created_once(tmp_path: Path) -> None:
    kind = "PersistentVolumeClaim"
    claims = [one for one in manifests(tmp_path, SPEC) if one["kind"] == kind]
    assert [claim["metadata"]["name"] for claim in claims] == ["a-cache"]


def test_the_output_may_be_on_a_volume_of_the_trainers(tmp_path: Path) -> None:
    spec = SPEC + "  output: /cache/results\n"
    pod = workload(tmp_path, spec)["spec"]["template"]["spec"]
    (check,) = (step for step in pod["initContainers"] if step["name"] == "output")
    assert {mount["name"] for mount in check["volumeMounts"]} == {"data", "cache"}


def test_an_update_selects_a_volume_of_a_role_by_name(tmp_path: Path) -> None:
    update = "trainers.volumes[cache].emptyDir.sizeLimit=1Gi"
    rendered = manifests(tmp_path, SPEC, update)
    (job,) = (
        one for one in rendered if one["metadata"]["name"] == "a-trainer" and "Job" in one["kind"]
    )
    volumes = {one["name"]: one for one in job["spec"]["template"]["spec"]["volumes"]}
    # Another source replaces the claim.
    assert volumes["cache"] == {"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}


def test_a_storage_of_a_role_becomes_its_claim(tmp_path: Path) -> None:
    (tmp_path / ".paddlespec.yaml").write_text(
        "apiVersion: paddlespec.io/v1\nkind: Project\nproject: p\ndatacenter: d\n"
        "datacenters: [{name: d, storages: {home: {claim: alice-home}}}]\n",
        encoding="utf-8",
    )
    rendered = manifests(tmp_path, SPEC.replace("claim: tables", "storage: home"))
    assert "{'claimName': 'alice-home'}" in str(rendered)


def processes(folder: Path, spec: str) -> list[Manifest]:
    file = folder / "paddlejob.yaml"
    file.write_text(
        "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {name: a}\n"
        f"spec:\n  image: team/train:1\n{spec}",
        encoding="utf-8",
    )
    (loaded,), _ = load(str(file), Files(), Choices(target="local"))
    rendered = build(loaded, Templates()).manifests
    return [one for one in rendered if one["kind"] == "Process"]


def test_a_rehearsal_misses_every_claim_at_one_path(tmp_path: Path) -> None:
    spec = SPEC.replace("/cache, claim: {size: 1Gi}", "/own, claim: mine")
    spec = spec.replace("/tables, claim: tables", "/own, emptyDir: {}")
    maps = Maps({"/data": str(tmp_path)})
    (fault,) = mounts.faults(processes(tmp_path, spec), maps)
    assert fault.startswith("volume claim mine (/own) does not exist on this machine")
