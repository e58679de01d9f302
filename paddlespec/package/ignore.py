"""
Ignore files in the syntax of .gitignore, evaluated for one name at a time.

As in git, the last matching pattern decides, and the content of an ignored folder is never
examined. Importing pathspec takes longer than collecting a package, so it is imported with the
first pattern.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence


class Pattern(NamedTuple):
    """One line of an ignore file; a pattern that does not ignore (`!`) includes files again."""

    regex: re.Pattern[str]
    ignores: bool
    any_depth: bool
    folders_only: bool

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether the pattern matches *path* itself, rather than a folder above it."""
        if self.folders_only and not is_folder:
            return False
        match = self.regex.search(path.rpartition("/")[2] if self.any_depth else path)
        # The only group of pathspec's expressions is the slash after a matching folder.
        return match is not None and match.lastindex is None


class Rules(NamedTuple):
    """The patterns of one folder; they match paths without the first `cut` characters."""

    cut: int
    patterns: tuple[Pattern, ...]


def parse(lines: Iterable[str], cut: int = 0) -> tuple[Rules, list[str]]:
    """Parse *lines*; also returns the lines that are not patterns."""
    patterns, invalid = [], []
    for line in lines:
        line = line.rstrip("\r\n")
        if not line.strip(" ") or line.startswith("#"):
            continue
        try:
            patterns.append(_pattern(line))
        except ValueError:
            invalid.append(line)
    return Rules(cut, tuple(pattern for pattern in patterns if pattern)), invalid


def decide(stack: Sequence[Rules], path: str, *, is_folder: bool) -> bool | None:
    """Whether the innermost matching rules ignore *path*; None if no rules match."""
    for rules in reversed(stack):
        relative = path[rules.cut :]
        for pattern in reversed(rules.patterns):
            if pattern.matches(relative, is_folder=is_folder):
                return pattern.ignores
    return None


@lru_cache(4096)
def _pattern(line: str) -> Pattern | None:
    import re

    from pathspec import GitIgnoreSpec

    line = re.sub(r"(?<!\\) +$", "", line)
    whole = line.rstrip("/")
    for pattern in GitIgnoreSpec.from_lines([whole]).patterns:
        if pattern.include is not None and pattern.regex is not None:
            any_depth = "/" not in whole
            return Pattern(pattern.regex, pattern.include, any_depth, whole != line)
    return None
