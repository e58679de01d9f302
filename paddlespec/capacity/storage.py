"""Volume claims, storage classes, and the storages named by the project file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

    from paddlespec.capacity.line import Unknown

_SHORT = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


class Claim(NamedTuple):
    """A volume claim; `size` is its capacity, or its request until it is bound."""

    namespace: str
    name: str
    phase: str
    size: Decimal | None
    modes: tuple[str, ...]
    storage_class: str | None
    volume: str | None
    used: Decimal | None = None

    @property
    def short_modes(self) -> str:
        """The access modes in the notation of kubectl."""
        return ",".join(_SHORT.get(mode, mode) for mode in self.modes)


class StorageClass(NamedTuple):
    """A storage class, which provisions volumes for claims."""

    name: str
    provisioner: str
    is_default: bool
    is_expandable: bool
    reclaim: str


class Storages(NamedTuple):
    """The claims and storage classes, and what may not be read."""

    claims: tuple[Claim, ...]
    classes: tuple[StorageClass, ...]
    unknown: tuple[Unknown, ...]


class Named(NamedTuple):
    """A storage of the project file, with the phase of its claim if known."""

    datacenter: str
    name: str
    claim: str | None
    url: str | None
    local: str | None
    is_read_only: bool
    phase: str | None = None
