"""Why a volume is not there."""

from __future__ import annotations

import pytest
from recorded import Recorded, event, evidence, pod

from paddlespec.cluster.why.claims import unbound

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


def told(objects: str, **fields: str) -> tuple[str, tuple[str, ...]] | None:
    waiting = pod(spec__volumes=VOLUME, **fields)
    return unbound(evidence(waiting, ask=Recorded(objects)))


PENDING = "PersistentVolumeClaim/data is Pending, of 10Gi"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            claim("fast") + storage_class("slow") + storage_class("home"),
            (
                "the claim data waits for a volume: there is no storage class fast",
                (PENDING, "storage classes: home, slow"),
            ),
        ),
        (
            claim("fast") + storage_class("fast"),
            (
                "the claim data waits for a volume of storage class fast",
                (PENDING, "StorageClass/fast has the provisioner csi.test"),
            ),
        ),
        (
            claim() + storage_class("slow"),
            (
                (
                    "the claim data waits for a volume: it names no storage class, and there is no "
                    "default one"
                ),
                (PENDING,),
            ),
        ),
        (
            claim() + storage_class("slow", default="true"),
            ("the claim data waits for a volume", (PENDING,)),
        ),
        (
            claim('""') + storage_class("slow"),
            (
                (
                    "the claim data waits for a volume: it names no storage class, so somebody has "
                    "to make one"
                ),
                (PENDING,),
            ),
        ),
        (
            claim("disks") + storage_class("disks", "kubernetes.io/no-provisioner"),
            (
                "the claim data waits for a volume: those of storage class disks are made by hand",
                (PENDING,),
            ),
        ),
        (
            claim("fast")
            + storage_class("fast", volumeBindingMode="WaitForFirstConsumer")
            + event("claim-uid", "ProvisioningFailed", "canary"),
            (
                "the claim data waits for a volume: its provisioner failed",
                (PENDING, "StorageClass/fast has the provisioner csi.test"),
            ),
        ),
        (claim(phase="Lost"), ("the claim data has lost its volume", ())),
        (claim("fast"), ("the claim data waits for a volume of storage class fast", (PENDING,))),
    ],
    ids=[
        *("no-class", "slow", "no-default", "default", "by-name", "by-hand", "failed", "lost"),
        "classes-unread",
    ],
)
def test_a_claim_that_is_not_bound(objects: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert told(objects) == expected


def test_a_claim_that_is_not_there() -> None:
    other = claim().replace("name: data", "name: other")
    assert told(other) == ("there is no claim data in namespace ads", ())


@pytest.mark.parametrize(
    "objects",
    [
        claim(phase="Bound"),
        claim("fast") + storage_class("fast", volumeBindingMode="WaitForFirstConsumer"),
        "",
    ],
    ids=["bound", "waits-for-the-pod", "unread"],
)
def test_a_claim_that_keeps_nobody(objects: str) -> None:
    assert told(objects) is None


def test_a_pod_that_has_a_node_does_not_wait_for_claims() -> None:
    assert told(claim(), spec__nodeName="n1") is None
