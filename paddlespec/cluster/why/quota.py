"""A ResourceQuota that does not let pods be created."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.cluster.why.amounts import amount, are, count, numbers

if TYPE_CHECKING:
    from decimal import Decimal

_EXCEEDED = re.compile(r"exceeded quota: (?P<quota>[a-z0-9.-]*[a-z0-9])(?=,|$)")
_AMOUNTS = re.compile(r"(requested|used|limited): ([\w./-]+=[\w.]+(?:,[\w./-]+=[\w.]+)*)")
_UNSAID = re.compile(
    r"failed quota: (?P<quota>[a-z0-9.-]*[a-z0-9]): must specify (?P<what>[\w./,-]+)(?= for: |$)"
)


def words(message: str) -> str | None:
    """Which quota stands in the way, and by how much it is too small."""
    if found := _UNSAID.search(message):
        return f"the quota {found['quota']} wants {found['what'].replace(',', ', ')} to be said"
    found = _EXCEEDED.search(message)
    if found is None:
        return None
    listed = {each[1]: each[2] for each in _AMOUNTS.finditer(message, found.end())}
    short = _short(listed)
    return f"{short} (quota {found['quota']})" if short else f"exceeds the quota {found['quota']}"


def _short(listed: dict[str, str]) -> str:
    requested, used, limited = (
        _pairs(listed.get(each, "")) for each in ("requested", "used", "limited")
    )
    told = []
    for resource in requested:
        if resource not in used or resource not in limited:
            continue
        left = max(limited[resource] - used[resource], limited[resource] * 0)
        if requested[resource] > left:
            told.append(
                f"needs {amount(resource, requested[resource])}, {count(resource, left)} "
                f"{are(left)} left of {count(resource, limited[resource])}"
            )
    return "; ".join(told)


def _pairs(text: str) -> dict[str, Decimal]:
    pairs = (each.partition("=") for each in text.split(",") if each)
    return numbers({name: value for name, _, value in pairs}) or {}
