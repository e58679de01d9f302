"""
Translate patterns of .gitignore to expressions that match in linear time.

An expression never goes back behind a wildcard once the text after it has matched: the first match
leaves the most for the rest. So `*a*a*a*b` takes no longer than `*b`. Character classes are those of
git, so a class never matches a slash.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMED = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "A-Fa-f0-9",
}
_ANY, _NOTHING = "[^/]", "(?!)"
_SEGMENT_END = r"(?=/|\Z)"


class Glob(NamedTuple):
    """An expression for whole paths or, `at_any_depth`, for names; `stars` counts wildcards."""

    regex: re.Pattern[str]
    at_any_depth: bool
    stars: int


def translate(pattern: str) -> Glob | None:
    """
    Translate *pattern*, which has no `!` before it and no slash after it.

    Returns None for a pattern that git ignores; raises `ValueError` for one that is invalid.
    """
    segments = pattern.split("/")
    at_any_depth = len(segments) == 1
    if not segments[0]:
        del segments[0]
    if not segments:
        raise ValueError("an empty pattern")
    groups: list[list[str]] = [[]]
    for segment in segments:
        if len(segment) > 1 and not segment.strip("*"):
            groups.append([])
            continue
        translated = _segment(segment)
        if translated is None:
            return None
        groups[-1].append(translated)
    return Glob(re.compile(_joined(groups)), at_any_depth, pattern.count("*"))


def _joined(groups: list[list[str]]) -> str:
    """Join groups of segments between which any number of folders may be."""
    first, *others = ["/".join(group) for group in groups]
    if not others:
        return first
    *middle, last = others
    regex = f"{first}/" if first else ""
    regex += "".join(f"(?>(?:[^/]+/)*?{group}/)" for group in middle if group)
    if not last:
        return regex + r"[\s\S]+"
    return f"{regex}(?:[^/]+/)*{last}"


def _segment(segment: str) -> str | None:
    """Translate a pattern without slashes; None if a class has no end."""
    if segment == "*":
        return "[^/]+"
    pieces = [""]
    index = 0
    while index < len(segment):
        char = segment[index]
        index += 1
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += _ANY
        elif char == "[":
            translated = _class(segment, index)
            if translated is None:
                return None
            regex, index = translated
            pieces[-1] += regex
        elif char == "\\":
            if index == len(segment):
                raise ValueError("nothing after a backslash")
            pieces[-1] += re.escape(segment[index])
            index += 1
        else:
            pieces[-1] += re.escape(char)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    inner = "".join(f"(?>{_ANY}*?{piece})" for piece in middle if piece)
    return f"(?>{first}{inner}{_ANY}*{last}{_SEGMENT_END})"


def _class(segment: str, index: int) -> tuple[str, int] | None:
    """Translate the class that begins at *index*; returns the index after it."""
    negated = segment[index : index + 1] in ("!", "^")
    index += negated
    parts: list[str] = []
    is_first = True
    while index < len(segment):
        char = segment[index]
        if char == "]" and not is_first:
            inside = "".join(parts)
            chosen = f"[{inside}]" if inside else _NOTHING
            if negated:
                chosen = f"[^/{inside}]"
            return f"(?!/){chosen}", index + 1
        is_first = False
        if segment.startswith("[:", index):
            end = segment.find(":]", index + 2)
            name = segment[index + 2 : end]
            if end >= 0 and name in _NAMED:
                parts.append(_NAMED[name])
                index = end + 2
                continue
            if end >= 0 and name.isalpha():
                return _NOTHING, len(segment)
        low, index = _char(segment, index)
        if segment[index : index + 1] == "-" and segment[index + 1 : index + 2] not in ("", "]"):
            high, index = _char(segment, index + 1)
            # Git takes the first character of a reversed range.
            parts.append(f"{_escaped(low)}-{_escaped(max(low, high))}")
        else:
            parts.append(_escaped(low))
    return None


def _char(segment: str, index: int) -> tuple[str, int]:
    """Return the character at *index* of a class, without its backslash."""
    if segment[index] == "\\" and index + 1 < len(segment):
        return segment[index + 1], index + 2
    return segment[index], index + 1


def _escaped(char: str) -> str:
    return f"\\{char}" if char in "\\]^-[&~|" else char
