"""Convert quantities and durations to and from exact numbers."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal

_SUFFIXES = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "u": Decimal("0.000001"),
    "n": Decimal("0.000000001"),
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
# Matches `requests.memory` and `gold.storageclass.storage.k8s.io/requests.storage`.
_BYTE_RESOURCE = re.compile(r"(?:.*[./])?(?:memory|storage|ephemeral-storage|hugepages-\w+)\Z")
_UNITS = ("Ti", "Gi", "Mi", "Ki", "")
_SHORT_LENGTH = 6
# Smaller amounts have no binary suffix in the API server.
_BINARY_FROM = 1024
_BINARY = [(unit, _SUFFIXES[unit]) for unit in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki", "")]
_DECIMAL = [(unit, _SUFFIXES[unit]) for unit in ("E", "P", "T", "G", "M", "k", "", "m", "u", "n")]
_EXPONENTS = [(f"e{scale}" if scale else "", Decimal(10) ** scale) for scale in range(18, -12, -3)]
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def quantity(value: str | float) -> Decimal:
    """Parse a quantity to a number of cores or bytes; raises `ValueError`."""
    if not isinstance(value, str):
        return Decimal(repr(value))
    match = _QUANTITY.match(value)
    if not match:
        raise ValueError(value)
    return Decimal(match[1]) * _SUFFIXES[match[2]]


def seconds(duration: str) -> int:
    """Parse a valid duration such as `1h30m` to seconds."""
    return sum(int(count) * _SECONDS[unit] for count, unit in _DURATION.findall(duration))


def as_duration(length: float) -> str:
    """Format seconds as a duration, in the largest unit that is exact."""
    whole = int(length)
    for unit, size in _SECONDS.items():
        if whole >= size > 1 and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}s" if length == whole else f"{length:.1f}s"


def as_bytes(number: Decimal) -> str:
    """Format a number of bytes in the largest binary unit that is exact."""
    for suffix in _UNITS[:-1]:
        scaled = number / _SUFFIXES[suffix]
        if scaled >= 1 and scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    return f"{int(number.to_integral_value())}"


def as_size(count: int) -> str:
    """Format the size of files or of memory in few digits."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def as_count(number: Decimal) -> str:
    """Format a number without trailing zeros: `2`, `0.5`."""
    return f"{number.normalize():f}"


def as_amount(resource: str, number: Decimal) -> str:
    """Format an amount of *resource*: bytes with a unit, anything else as a count."""
    return as_bytes(number) if _BYTE_RESOURCE.match(resource) else as_count(number)


def as_short(resource: str, number: Decimal) -> str:
    """Format an amount in few digits: exact if that is short, otherwise with one decimal."""
    exact = as_amount(resource, number)
    if len(exact) <= _SHORT_LENGTH:
        return exact
    if not _BYTE_RESOURCE.match(resource):
        return as_count(number.quantize(Decimal("0.01")))
    suffix = next(unit for unit in _UNITS if number >= _SUFFIXES[unit])
    return f"{as_count((number / _SUFFIXES[suffix]).quantize(Decimal('0.1')))}{suffix}"


def canonical(amount: str | float) -> str:
    """
    Format a quantity as the API server stores it: `0.5` is `500m`, `1024Mi` is `1Gi`.

    Another tool that applies the same manifest then owns the same text, and not a conflict.
    """
    match = _QUANTITY.match(str(amount))
    if not match:
        return str(amount)
    number = quantity(str(amount))
    is_whole = number == number.to_integral_value()
    if match[2].endswith("i") and number >= _BINARY_FROM and is_whole:
        units = _BINARY
    else:
        units = _EXPONENTS if "e" in match[1].lower() else _DECIMAL
    for suffix, size in units:
        scaled = number / size
        if number and scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    return f"{int((number / _SUFFIXES['n']).to_integral_value(ROUND_CEILING))}n" if number else "0"
