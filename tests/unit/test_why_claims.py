"""Why a volume claim is not bound."""

from __future__ import annotations

import pytest
from recorded import Recorded, event, evidence, pod

from paddlespec.backends.cluster.why.claims import unbound

VOLUME = "[{name: data, persistentVolumeClaim: {claimName: data}}]"


def claim(storage_class: str = "", phase: str = "Pending") -> str:
    named = f"storageClassName: {storage_class}, " if storage_class else ""
    return f"""---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, uid: claim-uid}}
spec: {{{named}resources: {{requests: {{storage: 10Gi}}}}}}
status: {{phase: {phase}}}
"""


def storage_class(name: str, provisioner: str = "csi.test", **fields: str) -> str:
    default = fields.pop("default", "false")
    more = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"""---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: {name}
  annotations: {{storageclass.kubernetes.io/is-default-class: "{default}"}}
provisioner: {provisioner}
{more}"""


def reason_of(objects: str, **fields: str) -> tuple[str, tuple[str, ...]] | None:
    waiting = pod(spec__volumes=VOLUME, **fields)
    return unbound(evidence(waiting, ask=Recorded(objects)))


PENDING = "PersistentVolumeClaim/data is Pending and requests 10Gi"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            claim("fast") + storage_class("slow") + storage_class("home"),
            (
                "volume claim data is waiting for a volume: storage class fast does not exist",
                (PENDING, "available storage classes: home, slow"),
            ),
        ),
        (
            claim("fast") + storage_class("fast"),
            (
                "volume claim data is waiting for a volume of storage class fast",
                (PENDING, "provisioner of StorageClass/fast: csi.test"),
            ),
        ),
        (
            claim() + storage_class("slow"),
            (
                (
                    "volume claim data is waiting for a volume: it names no storage class and the cluster "
                    "has no default"
                ),
                (PENDING,),
            ),
        ),
        (
            claim() + storage_class("slow", default="true"),
            ("volume claim data is waiting for a volume", (PENDING,)),
        ),
        (
            claim('""') + storage_class("slow"),
            (
                (
                    "volume claim data is waiting for a volume: its storage class is empty, so a volume "
                    "must be created by hand"
                ),
                (PENDING,),
            ),
        ),
        (
            claim("disks") + storage_class("disks", "kubernetes.io/no-provisioner"),
            (
                "volume claim data is waiting for a volume: volumes of storage class disks are created by hand",
                (PENDING,),
            ),
        ),
        (
            claim("fast")
            + storage_class("fast", volumeBindingMode="WaitForFirstConsumer")
            + event("claim-uid", "ProvisioningFailed", "canary"),
            (
                "volume claim data is waiting for a volume: provisioning failed",
                (PENDING, "provisioner of StorageClass/fast: csi.test"),
            ),
        ),
        (claim(phase="Lost"), ("volume claim data has lost its volume", ())),
        (
            claim("fast"),
            ("volume claim data is waiting for a volume of storage class fast", (PENDING,)),
        ),
    ],
    ids=[
        *("no-class", "slow", "no-default", "default", "by-name", "by-hand", "failed", "lost"),
        "classes-unread",
    ],
)
def test_an_unbound_claim(objects: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert reason_of(objects) == expected


def test_a_missing_claim() -> None:
    other = claim().replace("name: data", "name: other")
    assert reason_of(other) == ("volume claim data does not exist in namespace ads", ())


@pytest.mark.parametrize(
    "objects",
    [
        claim(phase="Bound"),
        claim("fast") + storage_class("fast", volumeBindingMode="WaitForFirstConsumer"),
        "",
    ],
    ids=["bound", "waits-for-the-pod", "unread"],
)
def test_a_claim_that_blocks_no_pod(objects: str) -> None:
    assert reason_of(objects) is None


def test_a_scheduled_pod_does_not_wait_for_claims() -> None:
    assert reason_of(claim(), spec__nodeName="n1") is None
