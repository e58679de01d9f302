"""Print what travels with a job, and what stays behind and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.package.left import measured
from paddlespec.package.walk import shown
from paddlespec.quantity import as_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.package.collect import Collection
    from paddlespec.package.left import Measured
    from paddlespec.package.walk import File

_MOST_FILES = 20
_MOST_LEFT = 10
_NAMED = 3


def counted(count: int, size: int) -> str:
    """Print a number of files and their size."""
    return f"{count:,} file{'' if count == 1 else 's'}, {as_size(size)}"


def files(collection: Collection) -> list[list[str]]:
    """List the files that travel with their sizes; of many, the largest."""
    chosen: Sequence[File] = collection.files
    if len(chosen) > _MOST_FILES:
        chosen = sorted(chosen, key=lambda file: (-file.size, file.path))[:_MOST_FILES]
    rows = [[shown(file.path), as_size(file.size)] for file in chosen]
    if more := len(collection.files) - len(chosen):
        rest = collection.total - sum(file.size for file in chosen)
        rows.append([f"{more:,} more", as_size(rest)])
    return rows


def behind(collection: Collection) -> list[list[str]]:
    """List what stays behind, largest first, with its size and the pattern that excludes it."""
    known = measured(collection.left)
    rows = [[shown(one.path), _size(one), shown(one.why)] for one in known[:_MOST_LEFT]]
    more = len(known) - len(rows)
    return [*rows, [f"{more:,} more", "", ""]] if more else rows


def summary(collection: Collection) -> str:
    """Summarize both in one line."""
    text = f"code: {counted(len(collection.files), collection.total)}"
    known = [one for one in measured(collection.left) if one.files]
    if not known:
        return text
    named = [f"{shown(one.path)} ({_size(one)}; {shown(one.why)})" for one in known[:_NAMED]]
    more = [f"{len(known) - _NAMED:,} more"] if len(known) > _NAMED else []
    return f"{text}; stays behind: {', '.join([*named, *more])}"


def _size(one: Measured) -> str:
    text = as_size(one.size)
    return text if one.is_complete else f"more than {text}"
