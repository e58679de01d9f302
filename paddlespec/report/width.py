"""How wide text is on a terminal, and text that cannot do anything to one."""

from __future__ import annotations

from unicodedata import category, combining, east_asian_width

_HARMFUL = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
REPLACEMENT = "\ufffd"
_LONGEST = 400


def visible(text: str) -> str:
    """
    *text* on one line, nothing of it invisible.

    Terminals obey control characters, and direction marks make a text read as another one.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_ESCAPES.get(each) or plain(each) for each in text)


def plain(char: str) -> str:
    """*char*, or what stands for it when it could not be seen."""
    return REPLACEMENT if category(char) in _HARMFUL else char


def cells(text: str) -> int:
    """How many columns of a terminal *text* takes."""
    if text.isascii():
        return len(text)
    return sum(cell(each) for each in text)


def cell(char: str) -> int:
    """The width of one character: two columns for East Asian wide ones, none for combining."""
    if combining(char) or category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def shortened(text: str, most: int) -> str:
    """*text* in at most *most* columns; what is too long loses its middle."""
    if cells(text) <= most:
        return text
    tail = (most - 1) // 3
    return fitting(text, most - 1 - tail) + "…" + fitting(text[::-1], tail)[::-1]


def brief(text: str) -> list[str]:
    """A long value in lines of its own: a list by its first and last items."""
    items = text.split(",")
    if len(items) < 2:
        return [shortened(text, _LONGEST)]
    middle = [f"… {len(items) - 2} more …"] if len(items) > 3 else items[1:-1]
    return [f"{shortened(each, _LONGEST)}," for each in (items[0], *middle)] + [
        shortened(items[-1], _LONGEST)
    ]


def fitting(text: str, most: int) -> str:
    """As much of the beginning of *text* as fits into *most* columns."""
    taken = 0
    for index, char in enumerate(text):
        taken += cell(char)
        if taken > most:
            return text[:index]
    return text
