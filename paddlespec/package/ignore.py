"""
Ignore files in the syntax of .gitignore, evaluated for one name at a time.

As in git, the last matching pattern decides, and the content of an ignored folder is never
examined.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.package.glob import Glob

MAX_PATTERN_LENGTH = 1_024
MAX_PATTERNS = 5_000
MAX_WORK = 20_000_000
# So many characters of a path take as long as the smallest match.
_PATH_UNIT = 64


class Pattern(NamedTuple):
    """One line of an ignore file; a pattern that does not ignore (`!`) includes files again."""

    glob: Glob
    ignores: bool
    folders_only: bool
    text: str

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether the pattern matches *path* itself, rather than a folder above it."""
        if self.folders_only and not is_folder:
            return False
        name = path.rpartition("/")[2] if self.glob.at_any_depth else path
        return self.glob.regex.fullmatch(name) is not None


class Rules(NamedTuple):
    """
    The patterns of one folder, in the file *source*.

    They match paths without the first `cut` characters.
    """

    cut: int
    patterns: tuple[Pattern, ...]
    source: str = "package.exclude"


class Match(NamedTuple):
    """The pattern that decides about a path, and its file."""

    pattern: Pattern
    source: str

    def __str__(self) -> str:
        return f"{self.source}: {self.pattern.text}"


class Invalid(NamedTuple):
    """A line that is not a pattern, with its number from 1."""

    line: int
    text: str


class TooManyPatterns(Exception):
    """Raised if matching every file with every pattern would take too long."""


class Budget:
    """The patterns and matches that are left for one package."""

    def __init__(self) -> None:
        self.patterns = MAX_PATTERNS
        self.work = MAX_WORK

    def add(self, patterns: int) -> None:
        """Count *patterns*; raises `TooManyPatterns`."""
        self.patterns -= patterns
        if self.patterns < 0:
            raise TooManyPatterns

    def match(self, pattern: Pattern, path: str) -> None:
        """Count one match; raises `TooManyPatterns`."""
        self.work -= 1 + pattern.glob.stars * (len(path) // _PATH_UNIT)
        if self.work < 0:
            raise TooManyPatterns


def parse(
    lines: Iterable[str], cut: int, budget: Budget, source: str = "package.exclude"
) -> tuple[Rules, list[Invalid]]:
    """Parse *lines* of the file *source*; also returns the lines that are not patterns."""
    patterns, invalid = [], []
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if not line.strip(" ") or line.startswith("#"):
            continue
        budget.add(1)
        try:
            patterns.append(_pattern(line))
        except ValueError:
            invalid.append(Invalid(number, line))
    return Rules(cut, tuple(pattern for pattern in patterns if pattern), source), invalid


def decide(stack: Sequence[Rules], path: str, *, is_folder: bool, budget: Budget) -> Match | None:
    """Return the pattern that decides whether *path* is ignored: the innermost that matches."""
    for rules in reversed(stack):
        relative = path[rules.cut :]
        for pattern in reversed(rules.patterns):
            budget.match(pattern, relative)
            if pattern.matches(relative, is_folder=is_folder):
                return Match(pattern, rules.source)
    return None


@lru_cache(4096)
def _pattern(line: str) -> Pattern | None:
    """Parse one line; None for a line that git ignores. Raises `ValueError`."""
    from paddlespec.package.glob import translate

    if len(line) > MAX_PATTERN_LENGTH:
        raise ValueError("a pattern that is too long")
    line = re.sub(r"(?<!\\) +$", "", line)
    whole = line.rstrip("/")
    if not whole:
        return None
    ignores = not whole.startswith("!")
    glob = translate(whole.removeprefix("!"))
    return Pattern(glob, ignores, whole != line, line) if glob else None
