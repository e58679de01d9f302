"""Hints for a path that no field has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.diagnostic import dotted
from paddlespec.spec import fields
from paddlespec.spec.spellings import native

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path


def hint(path: Path) -> str:
    """Return how to write *path*, or where to look it up."""
    return _unquoted(path) or native(_first_unknown(path)) or _similar(path)


def _first_unknown(path: Path) -> Path:
    lengths = range(1, len(path) + 1)
    return next(path[:length] for length in lengths if fields.find(path[:length]) is None)


def _unquoted(path: Path) -> str | None:
    """Return the hint for a free name that a dot has split."""
    holder = _first_unknown(path)[:-2]
    names = fields.resolve(fields.find(holder) or {}).get("additionalProperties")
    if not isinstance(names, dict) or "object" in fields.types(names):
        return None
    name = ".".join(map(str, path[len(holder) :]))
    return f'quote the key: {dotted(holder).removeprefix("spec.")}."{name}"'


def _similar(path: Path) -> str:
    similar = fields.suggestion(path)
    if similar is None:
        return "list the fields with `paddlespec explain`"
    return f'did you mean "{_addressed(similar, path)}"?'


def _addressed(field: str, path: Path) -> str:
    """Add list items to *field*: those of *path* where both agree, otherwise the first."""
    parts: list[str | int] = [] if path[0] in ("metadata", "profiles") else ["spec"]
    for word in field.split("."):
        parts.append(word)
        depth = len(parts)
        if fields.types(fields.find(tuple(parts)) or {}) == {"array", "null"}:
            same = path[:depth] == tuple(parts) and len(path) > depth + 1
            parts.append(path[depth] if same else 0)
    last = parts[-1]
    return dotted(tuple(parts[:-1] if isinstance(last, int) else parts)).removeprefix("spec.")
