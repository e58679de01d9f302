"""Columns of a terminal, and texts that are cut to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import split_graphemes

from paddlespec.report.width import beginning, cells, ending, shortened

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
CLOUD, HEART, FLAG, THUMB = "\u2601\ufe0f", "\u2764\ufe0f", "\U0001f1e9\U0001f1ea", "👍🏽"
texts = st.lists(st.sampled_from(["a", "é", "e\u0301", "模", CLOUD, FAMILY, FLAG, THUMB])).map(
    "".join
)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("模型", 4),
        ("e\u0301", 1),
        ("\u2601", 1),
        (CLOUD, 2),
        (HEART * 2, 4),
        (FLAG, 2),
        (THUMB, 2),
        (FAMILY, 2),
        ("1\ufe0f\u20e3", 2),
    ],
)
def test_columns_of_a_text(text: str, columns: int) -> None:
    assert cells(text) == columns


def test_a_cut_keeps_marks_and_joined_emoji_whole() -> None:
    assert beginning(f"a{FAMILY}b", 2) == "a"
    assert beginning(f"a{FAMILY}b", 3) == f"a{FAMILY}"
    assert ending("e\u0301e\u0301", 1) == "e\u0301"
    assert ending(f"a{CLOUD}", 1) == ""
    assert beginning("abc", -1) == ending("abc", -1) == ""


@given(texts, st.integers(0, 30))
def test_a_beginning_and_an_ending_fit_and_are_as_long_as_they_can_be(text: str, most: int) -> None:
    parts = [text[start:end] for start, end, _ in split_graphemes(text)[0]]
    head, tail = beginning(text, most), ending(text, most)
    assert head in {"".join(parts[:count]) for count in range(len(parts) + 1)}
    assert tail in {"".join(parts[count:]) for count in range(len(parts) + 1)}
    for part in (head, tail):
        assert cells(part) <= most
        assert part == text or cells(part) >= most - 1


@given(texts, st.integers(1, 30))
def test_a_shortened_text_fits(text: str, most: int) -> None:
    short = shortened(text, most)
    assert cells(short) <= most
    assert (short == text) is (cells(text) <= most)
