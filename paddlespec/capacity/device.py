"""Tell accelerators from other devices of nodes by the names of their resources."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[./_-]")
# Devices for networks and for virtual machines, as their plugins name them.
_OTHERS = frozenset(
    ("rdma", "hca", "roce", "infiniband", "sriov", "efa", "hostdev", "netdevice", "kvm", "fuse")
)


def is_accelerator(name: str) -> bool:
    """Report whether the resource *name* counts accelerators of a device plugin."""
    return "/" in name and _OTHERS.isdisjoint(_WORDS.split(name.lower()))
