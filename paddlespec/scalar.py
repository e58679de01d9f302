"""Plain YAML scalars as the YAML 1.2 core schema reads them, and as JSON can hold them."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASED = {"0o": (re.compile(r"0o[0-7]+\Z"), 8), "0x": (re.compile(r"0x[0-9a-fA-F]+\Z"), 16)}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_NOT_FINITE = {
    sign + dot + word
    for sign, dot, words in [
        ("", ".", ("inf", "Inf", "INF", "nan", "NaN", "NAN")),
        ("+", ".", ("inf", "Inf", "INF")),
        ("-", ".", ("inf", "Inf", "INF")),
    ]
    for word in words
}
_NUMBER_START = frozenset("0123456789+-.")
_MOST_DIGITS = 22  # of 64 bits, in base 8; Python refuses to read thousands
_INTEGERS = range(-(2**63), 2**63)


class UnusableNumber(ValueError):
    """The text is a number in YAML that neither JSON nor Kubernetes can hold."""


def plain(text: str) -> str | int | float | bool | None:
    """
    The value of an unquoted scalar: `on`, `yes`, `010` and `2024-01-01` hold no surprises.

    Raises `UnusableNumber` for infinities, not-a-number, and integers beyond 64 bits.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _INTEGER.match(text):
        return _integer(text, 10)
    if _FLOAT.match(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise UnusableNumber("the number is too large; quote it if it is text")
        return number
    if text in _NOT_FINITE:
        raise UnusableNumber("infinity and not-a-number have no meaning here")
    pattern, base = _BASED.get(text[:2], (None, 0))
    return _integer(text, base) if pattern and pattern.match(text) else text


def _integer(text: str, base: int) -> int:
    digits = text[2:] if base != 10 else text.lstrip("+-")
    digits = digits.lstrip("0") or "0"
    number = int(digits, base) if len(digits) <= _MOST_DIGITS else _INTEGERS.stop
    number = -number if text[0] == "-" else number
    if number not in _INTEGERS:
        raise UnusableNumber("the integer does not fit 64 bits; quote it if it is text")
    return number
