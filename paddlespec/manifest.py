"""Manifests: rendered objects, what identifies them, and the order in which they are applied."""

from __future__ import annotations

from typing import Any, NamedTuple

Manifest = dict[str, Any]

_ORDER = (
    "Namespace",
    "PersistentVolumeClaim",
    "Secret",
    "ConfigMap",
    "Service",
    "PodGroup",
    "StatefulSet",
    "Job",
)


class Identity(NamedTuple):
    """What tells objects apart in a cluster; an absent namespace is the connection's own."""

    api_version: str
    kind: str
    namespace: str | None
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


def identity(manifest: Manifest) -> Identity:
    """The identity of *manifest*."""
    metadata = manifest["metadata"]
    return Identity(
        manifest["apiVersion"], manifest["kind"], metadata.get("namespace"), metadata["name"]
    )


def role(manifest: Manifest) -> str | None:
    """The role that *manifest* runs, if it runs one."""
    label: str | None = manifest["metadata"].get("labels", {}).get(ROLE_LABEL)
    return label


def in_apply_order(manifests: list[Manifest]) -> list[Manifest]:
    """*manifests* so that each comes after what it needs; stable for the rest."""
    ranks = {kind: rank for rank, kind in enumerate(_ORDER)}
    return sorted(manifests, key=lambda each: ranks.get(each["kind"], len(_ORDER)))


JOB_LABEL = "paddlespec.io/job"
ROLE_LABEL = "paddlespec.io/role"
