"""The objects of a job by their part in its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.render.manifest import Manifest


class Parts(NamedTuple):
    """The objects of a job by their part in its start."""

    claims: list[Manifest]
    owner: Manifest | None
    owned: list[Manifest]


def divide(manifests: list[Manifest]) -> Parts:
    """
    Sort the objects into claims, the owner of the run, and what it owns.

    Claims outlive the job. Objects that cannot be suspended come last, after all others were
    accepted.
    """
    claims = [manifest for manifest in manifests if _outlives(manifest)]
    owner = workloads.owner(manifests)
    owned = [manifest for manifest in manifests if manifest not in claims and manifest is not owner]
    return Parts(claims, owner, sorted(owned, key=_starts_at_once))


def has_pods(manifest: Manifest) -> bool:
    """Report whether *manifest* runs a role."""
    return workloads.is_workload(manifest)


def unknown_run(manifests: Iterable[Manifest]) -> OperationFailed | None:
    """
    Return why a job cannot be followed: it runs pods of a kind that no installed package describes.

    Its end would go unnoticed, and `kill` would leave it running.
    """
    listed = list(manifests)
    for manifest in listed:
        if not has_pods(manifest) and workloads.has_template(manifest.get("spec")):
            return _unknown(manifest)
    if listed and workloads.owner(listed) is None:
        return OperationFailed(
            "no object of this job runs its trainers to completion",
            "render them as a kind that does, for example with another target",
        )
    return None


def _unknown(manifest: Manifest) -> OperationFailed:
    group = manifest["apiVersion"].rpartition("/")[0]
    name = f"{manifest['kind']}.{group}"
    return OperationFailed(
        f"{manifest['kind']}/{manifest['metadata']['name']} runs pods, but no installed package "
        f'describes the kind "{name}"',
        f'install a package with the entry point "{name}" in the group "{workloads.GROUP}"',
    )


def _outlives(manifest: Manifest) -> bool:
    return bool(manifest["kind"] == "PersistentVolumeClaim")


def _starts_at_once(manifest: Manifest) -> bool:
    return has_pods(manifest) and not workloads.ends(manifest)
