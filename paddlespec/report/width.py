"""Measure and shorten text for a terminal, and make it safe to print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HARMFUL = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
REPLACEMENT = "\ufffd"
_COMMAND = re.compile(r"(^\s*|\r\s*)(::)", re.MULTILINE)
_LONGEST = 400

Grapheme = tuple[str, int]


def visible(text: str) -> str:
    """
    Print *text* on one line, without invisible characters.

    Terminals execute control characters, and direction marks make a text look like another one.
    """
    if not (text.isascii() and text.isprintable()):
        text = "".join(_ESCAPES.get(char) or plain(char) for char in text)
    return unbroken(text) if "##[" in text or text.lstrip().startswith("::") else text


def unbroken(text: str) -> str:
    """Break what GitHub's runner takes for a command: `::` at the start of a line, and `##[`."""
    return _COMMAND.sub(rf"\1{REPLACEMENT}\2", text.replace("##[", f"##{REPLACEMENT}["))


def plain(char: str) -> str:
    """Return *char*, or the replacement character if it is invisible."""
    return REPLACEMENT if category(char) in _HARMFUL else char


def cells(text: str) -> int:
    """Count the terminal columns of *text*."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def shortened(text: str, most: int) -> str:
    """Shorten *text* to at most *most* columns by cutting its middle."""
    if cells(text) <= most:
        return text
    tail = (most - 1) // 3
    return beginning(text, most - 1 - tail) + "…" + ending(text, tail)


def brief(text: str) -> list[str]:
    """Split a long value into lines; of a list, only the first and last items are kept."""
    items = text.split(",")
    if len(items) < 2:
        return [shortened(text, _LONGEST)]
    middle = [f"… {len(items) - 2} more …"] if len(items) > 3 else items[1:-1]
    return [f"{shortened(item, _LONGEST)}," for item in (items[0], *middle)] + [
        shortened(items[-1], _LONGEST)
    ]


def beginning(text: str, most: int) -> str:
    """Return the beginning of *text* that fits in *most* columns."""
    return text[: sum(len(part) for part in _fitting(_graphemes(text), most))]


def ending(text: str, most: int) -> str:
    """Return the end of *text* that fits in *most* columns."""
    return text[len(text) - sum(len(part) for part in _fitting(_graphemes(text)[::-1], most)) :]


def _fitting(graphemes: Sequence[Grapheme], most: int) -> Iterator[str]:
    for text, width in graphemes:
        most -= width
        if most < 0:
            return
        yield text


def _graphemes(text: str) -> list[Grapheme]:
    """Split *text* into the units that a terminal shows as one character, with their widths."""
    if text.isascii():
        return [(char, 1) for char in text]
    from rich.cells import split_graphemes

    spans, _ = split_graphemes(text)
    return [(text[start:end], width) for start, end, width in spans]
