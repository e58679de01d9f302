"""
Ignore files: the language of .gitignore, decided for one name at a time.

As in git, the last pattern that matches the name itself decides, and what is below a folder that
stays behind is never looked at. Importing pathspec costs more than collecting a package, so it is
imported with the first pattern.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence


class Pattern(NamedTuple):
    """One line of an ignore file; one that does not ignore takes back what others ignored."""

    regex: re.Pattern[str]
    ignores: bool
    any_depth: bool
    folders_only: bool

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether *path* itself is meant; what is below it is not asked for."""
        if self.folders_only and not is_folder:
            return False
        match = self.regex.search(path.rpartition("/")[2] if self.any_depth else path)
        # The only group of pathspec's expressions is the slash behind a folder that matched.
        return match is not None and match.lastindex is None


class Rules(NamedTuple):
    """The patterns of one folder; they see paths without the `cut` characters above it."""

    cut: int
    patterns: tuple[Pattern, ...]


def parse(lines: Iterable[str], cut: int = 0) -> tuple[Rules, list[str]]:
    """The rules that *lines* state, and those lines that are no patterns."""
    patterns, refused = [], []
    for line in lines:
        line = line.rstrip("\r\n")
        if not line.strip(" ") or line.startswith("#"):
            continue
        try:
            patterns.append(_pattern(line))
        except ValueError:
            refused.append(line)
    return Rules(cut, tuple(each for each in patterns if each)), refused


def decide(stack: Sequence[Rules], path: str, *, is_folder: bool) -> bool | None:
    """Whether *path* is ignored by the innermost rules that speak of it; nothing when none do."""
    for rules in reversed(stack):
        own = path[rules.cut :]
        for pattern in reversed(rules.patterns):
            if pattern.matches(own, is_folder=is_folder):
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
