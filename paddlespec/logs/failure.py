"""Choose the lines of an output that show why a program failed."""

from __future__ import annotations

import re
from typing import NamedTuple

from paddlespec.logs.noise import is_noise

_TRACEBACK = "Traceback (most recent call last):"
_IGNORED = "Exception ignored in"
# Paddle's handler of signals prints a C++ stack, and then this.
_SUMMARY = "Error Message Summary:"
_RULE = re.compile(r"-{5,}\Z")
_FRAME = re.compile(r'  File "(.+)", line \d+')
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python\d|<frozen ")
_RANK = re.compile(r"Container rank (\d+) status failed cmd .* code (-?\d+) log ")


class Rank(NamedTuple):
    """A process of a launcher that failed, by its rank in the replica, and its exit code."""

    rank: int
    code: int


def failed_rank(lines: list[str]) -> Rank | None:
    """Return the process that the launcher blames."""
    for line in reversed(lines):
        if match := _RANK.search(line):
            code = int(match[2])
            return Rank(int(match[1]), 128 - code if code < 0 else code)
    return None


def failure(lines: list[str], most: int) -> list[str]:
    """
    Return at most *most* of *lines*: from the last exception on, else the last ones.

    An exception follows its innermost frame in the user's own code.
    """
    start = _start(lines)
    if start is None:
        kept = [line for line in lines if not _is_noise(line)] or lines
        return kept[-most:]
    frame: list[str] = []
    if lines[start].startswith(_TRACEBACK):
        end = _end(lines, start)
        frame = _frame(lines[start + 1 : end])
        start = end
    shown = [line for line in lines[start:] if not _is_noise(line)]
    room = most - len(frame)
    return [*frame, *shown[:room]]


def _start(lines: list[str]) -> int | None:
    """Return where the last report of an error begins."""
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if line.startswith(_SUMMARY):
            after = index + 1
            while after < len(lines) and _RULE.match(lines[after]):
                after += 1
            return after if after < len(lines) else None
        if line.startswith(_TRACEBACK):
            ignored = index > 0 and lines[index - 1].startswith(_IGNORED)
            if not ignored and _end(lines, index) < len(lines):
                return index
    return None


def _end(lines: list[str], start: int) -> int:
    """Return where the exception of the traceback at *start* is, after its indented frames."""
    index = start + 1
    while index < len(lines) and (lines[index].startswith(" ") or _is_noise(lines[index])):
        index += 1
    return index


def _frame(frames: list[str]) -> list[str]:
    """Return the innermost frame that is no library's, with its line of code."""
    for index in range(len(frames) - 1, -1, -1):
        match = _FRAME.match(frames[index])
        if match and not _LIBRARY.search(match[1]):
            code = frames[index + 1 : index + 2]
            return [frames[index], *(line for line in code if not _FRAME.match(line))]
    return []


def _is_noise(line: str) -> bool:
    return is_noise(line.encode(errors="replace")) or _RANK.search(line) is not None
