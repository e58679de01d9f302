"""Format amounts of resources: `2 cpu`, `4Gi memory`, `1 nvidia.com/gpu`."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

from paddlespec.quantity import as_bytes, as_count, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

_BYTES = ("memory", "storage", "ephemeral-storage")
_UNITS = (("Ti", 1024**4), ("Gi", 1024**3), ("Mi", 1024**2), ("Ki", 1024))


def amount(resource: str, number: Decimal) -> str:
    """Format a number of a resource, with its name."""
    plain = resource.removeprefix("requests.").removeprefix("limits.")
    limit = " (limits)" if resource.startswith("limits.") else ""
    name = plain.removesuffix("s") if plain in ("pods", "services") and number == 1 else plain
    return f"{count(resource, number)} {name}{limit}"


def count(resource: str, number: Decimal) -> str:
    """Format the number alone; long byte counts are rounded down to one decimal."""
    plain = resource.removeprefix("requests.").removeprefix("limits.")
    if plain not in _BYTES and not plain.startswith("hugepages-"):
        return as_count(number)
    exact = as_bytes(number)
    if len(exact) <= 6:
        return exact
    unit, size = next((pair for pair in _UNITS if number >= pair[1]), ("", 1))
    return f"{as_count((number / size).quantize(Decimal('0.1'), ROUND_DOWN))}{unit}"


def numbers(listed: Mapping[str, str]) -> dict[str, Decimal] | None:
    """Parse quantities; None if one of them is invalid."""
    try:
        return {name: quantity(text) for name, text in listed.items()}
    except (ValueError, ArithmeticError, KeyError):
        return None
