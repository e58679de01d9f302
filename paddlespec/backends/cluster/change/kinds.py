"""The kinds of objects that a job can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api.kinds import (
    extensions,
    is_built_in,
    managed,
    version_of,
)
from paddlespec.backends.cluster.change.applyset import listed_kinds

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest


def kinds(client: Client, inventory: Manifest | None) -> list[tuple[str, str]]:
    """
    Return the usual kinds, and those that the inventory of a job lists.

    Without an inventory, kinds of all installed extensions are included.
    """
    listed = dict.fromkeys(managed())
    for group, kind in listed_kinds(inventory):
        version = version_of(group, kind) or client.preferred(group)
        if version is not None and (is_built_in(version, kind) or client.serves(version, kind)):
            listed[version, kind] = None
    if inventory is None:
        listed.update(dict.fromkeys(own for own in extensions() if client.serves(*own)))
    return list(listed)
