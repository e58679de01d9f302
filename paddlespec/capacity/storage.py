"""Where data can be: claims, what makes volumes for them, and what the project calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

_SHORT = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


class Claim(NamedTuple):
    """A claim; `size` is what it has, or asks for until it has something."""

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
        """The access modes as kubectl writes them."""
        return ",".join(_SHORT.get(each, each) for each in self.modes)


class StorageClass(NamedTuple):
    """What makes volumes for claims that name it."""

    name: str
    provisioner: str
    is_default: bool
    is_expandable: bool
    reclaim: str


class Named(NamedTuple):
    """A storage of the project file, and the phase of its claim as far as that is known."""

    datacenter: str
    name: str
    claim: str | None
    url: str | None
    local: str | None
    is_read_only: bool
    phase: str | None = None
