"""The order in which objects are applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest

# Objects that workloads refer to; the workloads follow in the order of their registry.
_BEFORE = (
    "Namespace",
    "PersistentVolumeClaim",
    "Secret",
    "ConfigMap",
    "Service",
    "PodGroup",
)


def in_apply_order(manifests: list[Manifest]) -> list[Manifest]:
    """Sort *manifests*, so that each comes after the objects it needs; stable otherwise."""
    return sorted(manifests, key=_rank)


def _rank(manifest: Manifest) -> int:
    kind = manifest["kind"]
    return _BEFORE.index(kind) if kind in _BEFORE else len(_BEFORE) + workloads.rank(manifest)
