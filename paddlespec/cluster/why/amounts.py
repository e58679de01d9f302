"""Amounts of resources in words: `2 cpu`, `4Gi memory`, `1 nvidia.com/gpu`."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

from paddlespec.quantity import as_bytes, as_count, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

_BYTES = ("memory", "storage", "ephemeral-storage")
_UNITS = (("Ti", 1024**4), ("Gi", 1024**3), ("Mi", 1024**2), ("Ki", 1024))


def amount(resource: str, number: Decimal) -> str:
    """So much of a resource."""
    plain = resource.removeprefix("requests.").removeprefix("limits.")
    limit = " as a limit" if resource.startswith("limits.") else ""
    name = plain.removesuffix("s") if plain in ("pods", "services") and number == 1 else plain
    return f"{count(resource, number)} {name}{limit}"


def count(resource: str, number: Decimal) -> str:
    """The number alone; of bytes what people can read, and never more than there are."""
    plain = resource.removeprefix("requests.").removeprefix("limits.")
    if plain not in _BYTES and not plain.startswith("hugepages-"):
        return as_count(number)
    exact = as_bytes(number)
    if len(exact) <= 6:
        return exact
    unit, size = next((each for each in _UNITS if number >= each[1]), ("", 1))
    return f"{as_count((number / size).quantize(Decimal('0.1'), ROUND_DOWN))}{unit}"


def are(number: Decimal) -> str:
    """The verb that goes with a number."""
    return "is" if number == 1 else "are"


def numbers(listed: Mapping[str, str]) -> dict[str, Decimal] | None:
    """Quantities as numbers; nothing where one of them is none."""
    try:
        return {name: quantity(text) for name, text in listed.items()}
    except (ValueError, ArithmeticError, KeyError):
        return None
