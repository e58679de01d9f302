"""Look up the original spelling of a value, which typing and interpolation lose."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.spec.document import Document


def written(document: Document, path: Path) -> str | None:
    """Return the text of the scalar at *path*, with quotes; None unless it is on one line."""
    nearest, place = document.nearest(path)
    if nearest != path or place.end is None or place.origin.is_option:
        return None
    (line, column), (last, end) = place.start, place.end
    lines = _lines(place.origin.text)
    return lines[line][column:end] if line == last and line < len(lines) else None


def has_unknown_keys(document: Document, path: Path, known: frozenset[str]) -> bool:
    """Whether a misspelled key may explain why a field is missing at *path*."""
    value = document.at(path)
    return isinstance(value, dict) and not value.keys() <= known


@lru_cache(maxsize=8)
def _lines(text: str) -> list[str]:
    return text.splitlines()
