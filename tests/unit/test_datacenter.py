"""Names that a datacenter defines: queues, and storages of volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paddlespec import pipeline
from paddlespec.diagnostic import in_order
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ads
datacenter: dc1
datacenters:
  - name: dc1
    storages:
      home: {claim: alice-home}
      public: {claim: public-data, readOnly: true}
      bucket: {url: "s3://ads"}
    queues: {default: ads-gpu, night: ads-night}
  - name: bare
"""
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: collective
  image: registry.test/paddle:1
  command: python train.py
  trainers: {replicas: 1, resources: {cpu: 1, memory: 1Gi}}
  scheduling: {scheduler: kueue}
  volumes:
    - {name: home, mountPath: /home, storage: home}
    - {name: public, mountPath: /public, storage: public}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".paddlespec.yaml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "paddlejob.yaml").write_text(SPEC, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(*updates: str, datacenter: str | None = None) -> pipeline.Loaded:
    choices = pipeline.Choices(updates=updates, datacenter=datacenter)
    (loaded,), diagnostics = pipeline.load("paddlejob.yaml", Files(), choices)
    assert diagnostics == []
    return loaded


def findings(*updates: str, datacenter: str | None = None) -> list[str]:
    return [str(fault) for fault in in_order(load(*updates, datacenter=datacenter).diagnostics)]


@pytest.mark.usefixtures("folder")
def test_volumes_mount_the_claims_of_storages() -> None:
    loaded = load()
    home, public = loaded.job.spec.volumes
    assert (home.claim, home.read_only, home.storage) == ("alice-home", False, None)
    assert (public.claim, public.read_only) == ("public-data", True)
    origin = loaded.document.origin(("spec", "volumes", 0, "claim"))
    assert (origin.layer, origin.source) == ("datacenter dc1", ".paddlespec.yaml")
    claims = [
        volume["persistentVolumeClaim"]["claimName"]
        for manifest in pipeline.build(loaded, Templates()).manifests
        for volume in manifest["spec"]["template"]["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert claims == ["alice-home", "public-data"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("update", "queue"),
    [
        ("scheduling.scheduler=kueue", "ads-gpu"),
        ("scheduling.scheduler=volcano", "ads-gpu"),
        ("scheduling.queue=night", "ads-night"),
        ("scheduling.queue=ads-night", "ads-night"),
        ("scheduling.queue=elsewhere", "elsewhere"),
    ],
)
def test_queue_names_are_those_of_the_datacenter(update: str, queue: str) -> None:
    assert load(update).job.spec.scheduling.queue == queue


@pytest.mark.usefixtures("folder")
def test_the_default_scheduler_gets_no_queue() -> None:
    assert load("scheduling.scheduler=default").job.spec.scheduling.queue is None


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("update", "finding"),
    [
        (
            "scheduling.queue=nigth",
            (
                "--update scheduling.queue=nigth: warning: "
                'the datacenter has no queue "nigth"; the name is used unchanged [queue]'
            ),
        ),
        (
            "volumes[home].storage=hom",
            '--update volumes[home].storage=hom: error: datacenter dc1 has no storage "hom" [storage]',
        ),
        (
            "volumes[home].storage=bucket",
            (
                '--update volumes[home].storage=bucket: error: storage "bucket" of datacenter dc1 '
                "has no claim to mount [storage]"
            ),
        ),
        (
            "volumes[public].readOnly=false",
            'paddlejob.yaml:12:51: error: storage "public" of datacenter dc1 is read-only [storage]',
        ),
    ],
)
def test_wrong_names_are_findings(update: str, finding: str) -> None:
    assert findings(update) == [finding]


@pytest.mark.usefixtures("folder")
def test_a_datacenter_without_names_is_reported_at_the_names() -> None:
    assert findings(datacenter="bare") == [
        "paddlejob.yaml:9:27: error: Kueue needs a queue; without one, the job bypasses every quota [queue]",
        'paddlejob.yaml:11:47: error: datacenter bare has no storage "home" [storage]',
        'paddlejob.yaml:12:51: error: datacenter bare has no storage "public" [storage]',
    ]


def test_a_broken_project_file_is_the_only_finding(folder: Path) -> None:
    (folder / ".paddlespec.yaml").write_text("apiVersion: [", encoding="utf-8")
    messages = findings("scheduling.scheduler=default")
    assert messages
    assert all(message.startswith(".paddlespec.yaml") for message in messages)
