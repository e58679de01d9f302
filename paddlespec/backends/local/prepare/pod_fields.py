"""The values that a pod has and a process stands in for: its name and addresses, its resources."""

from __future__ import annotations

import socket
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Any

from paddlespec.backends.local.machine.resources import holdings
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest

_THIS_MACHINE = "127.0.0.1"


def field(process: Manifest, path: str, namespace: str, address: str) -> str | None:
    """Return the value of a pod's field for *process* at *address*; None if it has none."""
    if "['" in path:  # the only labels and annotations left here hold the index
        return str(process["spec"]["index"])
    values = {
        "metadata.name": process["metadata"]["name"],
        "metadata.namespace": namespace,
        "spec.nodeName": socket.gethostname(),
        "status.hostIP": _THIS_MACHINE,
        "status.hostIPs": _THIS_MACHINE,
        "status.podIP": address,
        "status.podIPs": address,
    }
    return values.get(path)


def resource(process: Manifest, source: dict[str, Any]) -> str | None:
    """
    Return a request or limit of *process*, in cores or bytes, or in units of its divisor.

    As in a pod, a missing request is zero, and a missing limit that of the machine.
    """
    kind, _, name = source["resource"].partition(".")
    written = ((process["spec"].get("resources") or {}).get(kind) or {}).get(name)
    amount = _default(kind, name) if written is None else quantity(written)
    if amount is None:
        return None
    return str(ceil(amount / (quantity(source.get("divisor", "0")) or Decimal(1))))


def _default(kind: str, name: str) -> Decimal | None:
    if kind == "requests":
        return Decimal(0)
    return next((row.allocatable for row in holdings() if row.resource == name), None)
