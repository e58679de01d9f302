"""ResourceQuotas that forbid more pods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.why.amounts import amount, count, numbers

if TYPE_CHECKING:
    from decimal import Decimal

_EXCEEDED = re.compile(r"exceeded quota: (?P<quota>[a-z0-9.-]*[a-z0-9])(?=,|$)")
_AMOUNTS = re.compile(r"(requested|used|limited): ([\w./-]+=[\w.]+(?:,[\w./-]+=[\w.]+)*)")
_UNSET = re.compile(
    r"failed quota: (?P<quota>[a-z0-9.-]*[a-z0-9]): must specify (?P<what>[\w./,-]+)(?= for: |$)"
)


def shortage(message: str) -> str | None:
    """Name the exceeded quota and what it has left; None for other messages."""
    if match := _UNSET.search(message):
        return f"quota {match['quota']} requires {match['what'].replace(',', ', ')} to be set"
    match = _EXCEEDED.search(message)
    if match is None:
        return None
    amounts = {part[1]: part[2] for part in _AMOUNTS.finditer(message, match.end())}
    short = _short(amounts)
    return f"{short} (quota {match['quota']})" if short else f"exceeds quota {match['quota']}"


def _short(amounts: dict[str, str]) -> str:
    requested, used, limited = (
        _pairs(amounts.get(name, "")) for name in ("requested", "used", "limited")
    )
    shortages = []
    for resource in requested:
        if resource not in used or resource not in limited:
            continue
        left = max(limited[resource] - used[resource], limited[resource] * 0)
        if requested[resource] > left:
            shortages.append(
                f"needs {amount(resource, requested[resource])}, {count(resource, left)} "
                f"of {count(resource, limited[resource])} left"
            )
    return "; ".join(shortages)


def _pairs(text: str) -> dict[str, Decimal]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return numbers({name: value for name, _, value in pairs}) or {}
