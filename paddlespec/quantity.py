"""Quantities and durations as exact numbers."""

from __future__ import annotations

import re
from decimal import Decimal

_SUFFIXES = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{
        suffix: Decimal(1000) ** power
        for power, suffix in enumerate(("k", "M", "G", "T", "P", "E"), 1)
    },
    **{
        suffix: Decimal(1024) ** power
        for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)
    },
}
_QUANTITY = re.compile(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)([A-Za-z]*)\Z")
_DURATION = re.compile(r"([0-9]+)([dhms])")
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def quantity(value: str | float) -> Decimal:
    """The number that a valid quantity stands for: cores, or bytes."""
    if not isinstance(value, str):
        return Decimal(repr(value))
    match = _QUANTITY.match(value)
    if not match:
        raise ValueError(value)
    return Decimal(match[1]) * _SUFFIXES[match[2]]


def seconds(duration: str) -> int:
    """The length of a valid duration such as `1h30m`."""
    return sum(int(count) * _SECONDS[unit] for count, unit in _DURATION.findall(duration))


def as_duration(length: float) -> str:
    """A length of time in seconds as a spec says it, in the largest unit that holds it exactly."""
    whole = int(length)
    for unit, size in _SECONDS.items():
        if whole >= size > 1 and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}s" if length == whole else f"{length:.1f}s"


def as_bytes(number: Decimal) -> str:
    """A count of bytes in the largest binary unit that holds it exactly."""
    for suffix in ("Ti", "Gi", "Mi", "Ki"):
        scaled = number / _SUFFIXES[suffix]
        if scaled >= 1 and scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    return f"{int(number.to_integral_value())}"


def as_count(number: Decimal) -> str:
    """A count without needless zeros: `2`, `0.5`."""
    return f"{number.normalize():f}"


def as_written(amount: str | float) -> str:
    """A quantity in the words of the spec, a whole number without its fraction."""
    if isinstance(amount, float) and amount.is_integer():
        amount = int(amount)
    return str(amount)
