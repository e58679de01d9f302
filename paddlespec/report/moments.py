"""Parse times, and format durations."""

from __future__ import annotations

from datetime import datetime

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def moment(text: str | None) -> datetime | None:
    """Parse an RFC 3339 time without fractions; None if it is invalid."""
    try:
        return datetime.strptime(text or "", "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None


def duration(seconds: float) -> str:
    """Format a duration in its two largest units."""
    left = max(0, int(seconds))
    parts: list[str] = []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
    return "".join(parts[:2]) or "0s"


def ago(text: str | None, now: datetime) -> str:
    """Format how long ago a time was; empty if it is unknown."""
    start = moment(text)
    return "" if start is None else duration((now - start).total_seconds())
