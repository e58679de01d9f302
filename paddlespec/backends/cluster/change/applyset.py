"""
The set of objects that make up a job: an inventory, and the label of its members.

It follows the ApplySet specification of Kubernetes (KEP-3659), with our own tooling value, so other
tools can find the members and know not to take over the set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import __version__
from paddlespec.backends.cluster.api.kinds import version_of
from paddlespec.render.manifest import Identity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.render.manifest import Manifest

MEMBER_LABEL = "applyset.kubernetes.io/part-of"
ID_LABEL = "applyset.kubernetes.io/id"
TOOLING = "applyset.kubernetes.io/tooling"
GROUP_KINDS = "applyset.kubernetes.io/contains-group-kinds"


def inventory(namespace: str, job: str) -> Identity:
    """Return the object that represents the set; no job name contains a dot."""
    return Identity("v1", "ConfigMap", namespace, f"{job}.paddlespec")


def set_id(namespace: str, job: str) -> str:
    """Return the ID of the set, derived from its inventory as the specification requires."""
    from base64 import urlsafe_b64encode
    from hashlib import sha256

    own = inventory(namespace, job)
    digest = sha256(f"{own.name}.{namespace}.ConfigMap.".encode()).digest()
    return f"applyset-{urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


def tooling() -> str:
    """Return the tool that manages the set."""
    return f"paddlespec/v{__version__}"


def group_kinds(members: Iterable[tuple[str, str]]) -> str:
    """List the kinds of *members* (API version, kind) in the format of the specification."""
    names = set()
    for version, kind in members:
        group = version.rpartition("/")[0]
        names.add(f"{kind}.{group}" if group else kind)
    return ",".join(sorted(names))


def listed_kinds(inventory: Manifest | None) -> list[tuple[str, str]]:
    """Return the groups and kinds that an inventory lists."""
    metadata = (inventory or {}).get("metadata") or {}
    listed = (metadata.get("annotations") or {}).get(GROUP_KINDS, "")
    pairs = (name.partition(".") for name in listed.split(",") if name)
    return [(group, kind) for kind, _, group in pairs]


def kinds_of(inventory: Manifest | None) -> set[tuple[str, str]]:
    """Return the kinds that an inventory lists, in the API versions that are rendered."""
    versioned = ((version_of(*pair), pair[1]) for pair in listed_kinds(inventory))
    return {(version, kind) for version, kind in versioned if version is not None}
