"""Resolve plain YAML scalars by the YAML 1.2 core schema, limited to values of JSON."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASED = {"0o": (re.compile(r"0o[0-7]+\Z"), 8), "0x": (re.compile(r"0x[0-9a-fA-F]+\Z"), 16)}
_CONSTANTS: dict[str, bool | None] = {
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
_MAX_DIGITS = 22  # 64 bits in base 8; Python rejects integers of thousands of digits
_INTEGERS = range(-(2**63), 2**63)


class UnusableNumber(ValueError):
    """Raised for a YAML number that JSON and Kubernetes cannot represent."""


def plain(text: str) -> str | int | float | bool | None:
    """
    Return the value of an unquoted scalar; `on`, `yes` and `2024-01-01` are strings, `010` is 10.

    Raises `UnusableNumber` for infinities, not-a-number, and integers beyond 64 bits.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _INTEGER.match(text):
        return _integer(text, 10)
    if _FLOAT.match(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise UnusableNumber("the number is too large; quote it if it is a string")
        return number
    if text in _NOT_FINITE:
        raise UnusableNumber("infinity and not-a-number are not allowed")
    pattern, base = _BASED.get(text[:2], (None, 0))
    return _integer(text, base) if pattern and pattern.match(text) else text


def _integer(text: str, base: int) -> int:
    digits = text[2:] if base != 10 else text.lstrip("+-")
    digits = digits.lstrip("0") or "0"
    number = int(digits, base) if len(digits) <= _MAX_DIGITS else _INTEGERS.stop
    number = -number if text[0] == "-" else number
    if number not in _INTEGERS:
        raise UnusableNumber("the integer does not fit in 64 bits; quote it if it is a string")
    return number
