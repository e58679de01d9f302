"""Measure what stays behind: entries of a package that a pattern excludes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.package.walk import Left

MAX_ENTRIES = 20_000


class Measured(NamedTuple):
    """An entry that stays behind: what excludes it, and its size unless it has too many files."""

    path: str
    why: str
    files: int
    size: int
    is_complete: bool = True


def measured(left: Iterable[Left], most: int = MAX_ENTRIES) -> list[Measured]:
    """Measure *left*, largest first, looking at *most* files and folders; no link is followed."""
    found: list[Measured] = []
    for entry in left:
        files = size = seen = 0
        waiting = [entry.source]
        while waiting and seen <= most:
            folder = waiting.pop()
            try:
                status = os.lstat(folder)
                if not os.path.isdir(folder) or os.path.islink(folder):
                    files, size, seen = files + 1, size + status.st_size, seen + 1
                    continue
                with os.scandir(folder) as listing:
                    for inner in listing:
                        seen += 1
                        if inner.is_dir(follow_symlinks=False):
                            waiting.append(inner.path)
                        else:
                            files += 1
                            size += inner.stat(follow_symlinks=False).st_size
                        if seen > most:
                            break
            except OSError:  # deleted meanwhile, or not readable
                continue
        most = max(0, most - seen)
        complete = not waiting and most > 0
        found.append(Measured(entry.path, entry.why, files, size, complete))
    return sorted(found, key=lambda one: (one.is_complete, -one.size, one.path))
