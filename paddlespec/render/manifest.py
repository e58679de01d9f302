"""Manifests: rendered objects and their identity."""

from __future__ import annotations

from typing import Any, NamedTuple

Manifest = dict[str, Any]


class Identity(NamedTuple):
    """The identity of an object in a cluster; None is the namespace of the connection."""

    api_version: str
    kind: str
    namespace: str | None
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


def identity(manifest: Manifest) -> Identity:
    """Return the identity of *manifest*."""
    metadata = manifest["metadata"]
    return Identity(
        manifest["apiVersion"], manifest["kind"], metadata.get("namespace"), metadata["name"]
    )


def role(manifest: Manifest) -> str | None:
    """Return the role of *manifest*, or None."""
    label: str | None = (manifest["metadata"].get("labels") or {}).get(ROLE_LABEL)
    return label


JOB_LABEL = "paddlespec.io/job"
ROLE_LABEL = "paddlespec.io/role"
