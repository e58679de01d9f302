"""Written values are read back equal in YAML 1.1 and 1.2."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.spec.emit import dump
from paddlespec.spec.source import read

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
LINES = st.lists(
    st.sampled_from(["", " ", "a", "  b", "c ", "# d", "- e", "f: g", "\t", "---", "..."])
).map("\n".join)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT | LINES
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
AMBIGUOUS = [
    "y",
    "n",
    "yes",
    "no",
    "on",
    "off",
    "true",
    "false",
    "null",
    "~",
    "None",
    "010",
    "0o10",
    "1_000",
    "12:30:45",
    "1e3",
    ".5",
    "+1",
    "-1",
    "0x1F",
    "2024-01-01",
    "=",
    "<<",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "a:",
    "a:b",
    "a,b",
    "[a]",
    "{a}",
    "-a",
    "-",
    "--",
    "?",
    ":",
    "#",
    "a#",
    ".inf",
    ".nan",
    "100m",
    "1Gi",
    "1E",
    "0b11",
    "|",
    ">",
    "'",
    '"',
]


@given(VALUES)
def test_any_value_is_read_back(value: Any) -> None:
    text = dump(value)
    reading = read(text, "out.yaml")
    unprintable = any(ord(char) > 0x7E and not char.isprintable() for char in text)
    assert unprintable or reading.diagnostics == []
    if not reading.diagnostics:
        assert reading.documents[0].data == value


@given(VALUES)
def test_kubectl_reads_the_same_value(value: Any) -> None:
    assert yaml.safe_load(dump(value)) == value


@pytest.mark.parametrize("word", AMBIGUOUS)
def test_strings_stay_strings(word: str) -> None:
    for value in (word, {word: word}, [word], f"{word} {word}", f"{word}\n{word}\n"):
        assert yaml.safe_load(dump(value)) == value
        assert read(dump(value), "out.yaml").documents[0].data == value


def test_scripts_are_block_literals() -> None:
    assert dump({"run": "a\nb\n"}) == "run: |\n  a\n  b\n"
    assert dump({"run": "a\n\nb"}) == "run: |-\n  a\n\n  b\n"


def test_common_words_are_not_quoted() -> None:
    value = {
        "image": "paddlepaddle/paddle:2.6.2",
        "memory": "4Gi",
        "cpu": "2",
        "args": ["python train.py"],
    }
    assert dump(value) == (
        'image: paddlepaddle/paddle:2.6.2\nmemory: 4Gi\ncpu: "2"\nargs:\n- python train.py\n'
    )
