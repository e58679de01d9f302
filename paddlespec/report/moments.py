"""Times and how long they are ago, for people."""

from __future__ import annotations

from datetime import datetime

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def moment(text: str | None) -> datetime | None:
    """An RFC 3339 time without fractions, if it is one."""
    try:
        return datetime.strptime(text or "", "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    left = max(0, int(seconds))
    parts: list[str] = []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
    return "".join(parts[:2]) or "0s"


def ago(text: str | None, now: datetime) -> str:
    """How long ago a time was; nothing if it is not known."""
    start = moment(text)
    return "" if start is None else duration((now - start).total_seconds())
