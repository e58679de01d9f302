"""The objects of a job by the part that they play when it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cluster.wanted import is_job, is_owner

if TYPE_CHECKING:
    from paddlespec.manifest import Manifest


class Parts(NamedTuple):
    """The objects of a job by the part that they play when it starts."""

    claims: list[Manifest]
    owner: Manifest | None
    owned: list[Manifest]


def divide(manifests: list[Manifest]) -> Parts:
    """
    Tell the objects apart.

    Claims outlive the job. A StatefulSet cannot be suspended: it comes last, when everything
    before it was accepted.
    """
    claims = [each for each in manifests if each["kind"] == "PersistentVolumeClaim"]
    owner = next((each for each in manifests if is_owner(each)), None)
    owned = [each for each in manifests if each not in claims and each is not owner]
    return Parts(claims, owner, sorted(owned, key=lambda each: each["kind"] == "StatefulSet"))


def has_pods(manifest: Manifest) -> bool:
    """Whether *manifest* runs a role."""
    return is_job(manifest) or manifest["kind"] == "StatefulSet"
