"""Plain scalars of YAML 1.2."""

from __future__ import annotations

import pytest

from paddlespec.spec.scalar import UnusableNumber, plain

VALUES = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    "0": 0,
    "-0": 0,
    "+5": 5,
    "010": 10,
    "0o10": 8,
    "0xFf": 255,
    "9223372036854775807": 2**63 - 1,
    "-9223372036854775808": -(2**63),
    "0" * 5000 + "7": 7,
    "1.": 1.0,
    ".5": 0.5,
    "-.5": -0.5,
    "1e3": 1000.0,
    "1E-3": 0.001,
    "4.0": 4.0,
}
TEXTS = (
    "yes", "no", "on", "off", "Yes", "y", "nULL", "tRUE",
    "1_000", "0b11", "12:30:45", "2024-01-01", "1.2.3", "0o8", "-0x1", "0x", "0xg", "1e", "e3",
    "+", "-", ".", "-.", "+.e3", "=", "<<", "٣", "1٣", "1 ", "1\n", "inf", "nan", "-.nan", "4Gi",
)  # fmt: skip
UNUSABLE = (
    ".inf", "-.INF", "+.Inf", ".nan", ".NaN", "1e400", "-1e400", "1" * 10_000, "1" + "0" * 5000 + ".0",
    "9223372036854775808", "-9223372036854775809", "0xffffffffffffffff", "0x" + "f" * 10_000,
    "0o7777777777777777777777",
)  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_scalars_with_a_value(text: str) -> None:
    value = plain(text)
    assert value == VALUES[text]
    assert type(value) is type(VALUES[text])


@pytest.mark.parametrize("text", TEXTS)
def test_scalars_that_are_strings(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize("text", UNUSABLE, ids=lambda text: text[:12])
def test_unrepresentable_numbers_are_rejected(text: str) -> None:
    with pytest.raises(UnusableNumber):
        plain(text)
