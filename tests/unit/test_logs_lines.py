"""Lines from bytes, and how they look."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.logs.line import Line, Source, Splitter
from paddlespec.logs.show import (
    Json,
    Style,
    Text,
    seen,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

ONE = Source("trainers", 0, "a-trainer-0")
OTHER = Source("pservers", 10, "a-pserver-10")


def at(second: int) -> bytes:
    return b"2026-01-01T00:00:%02d.000000000Z" % second


def line(text: bytes, source: Source = ONE, second: int = 0, *, ended: bool = True) -> Line:
    return Line(at(second), source, text, at(second), ended)


def texts(lines: Iterable[Line]) -> list[bytes]:
    return [each.text for each in lines]


@given(
    st.lists(st.binary(max_size=40).map(lambda each: each.replace(b"\n", b" ")), max_size=20),
    st.lists(st.integers(1, 60), min_size=1),
)
def test_lines_are_the_same_however_their_bytes_come(rows: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(at(0) + b" " + each + b"\n" for each in rows)
    splitter, found = Splitter(ONE), []
    while whole:
        size = cuts[0]
        cuts = [*cuts[1:], size]
        found += splitter.feed(whole[:size])
        whole = whole[size:]
    assert texts(found) == rows
    assert not splitter.is_partial


def test_a_line_that_does_not_end_comes_in_pieces_that_make_it() -> None:
    splitter = Splitter(ONE, longest=100)
    found = splitter.feed(at(1) + b" " + b"x" * 90) + splitter.feed(b"y" * 200)
    found += splitter.feed(b"z\n" + at(2) + b" next\n")
    assert [(each.text, each.ended, each.time) for each in found] == [
        (b"x" * 90, False, at(1)),
        (b"y" * 200, False, at(1)),
        (b"z", True, at(1)),
        (b"next", True, at(2)),
    ]


def test_a_piece_has_a_text() -> None:
    splitter = Splitter(ONE)
    assert splitter.feed(at(1)[:12]) == splitter.piece() == []
    assert splitter.feed(at(1)[12:] + b" ") == splitter.piece() == []
    splitter.feed(b"50%")
    assert texts(splitter.piece()) == [b"50%"]
    assert splitter.piece() == []
    assert texts(splitter.feed(b", 100%\n")) == [b", 100%"]


def test_a_clock_that_goes_back_moves_no_line() -> None:
    rows = b"".join(at(second) + b" %d\n" % second for second in (5, 6, 2, 7))
    found = Splitter(ONE).feed(rows)
    assert [each.order for each in found] == [at(5), at(6), at(6), at(7)]
    assert [each.time for each in found] == [at(5), at(6), at(2), at(7)]


def test_lines_without_a_time_stay_where_they_are() -> None:
    found = Splitter(ONE).feed(at(3) + b" a\n\nno time at all\n" + at(4) + b" b\n")
    assert texts(found) == [b"a", b"", b"no time at all", b"b"]
    assert [each.order for each in found] == [at(3), at(3), at(3), at(4)]


def test_a_prefix_is_as_wide_as_the_widest() -> None:
    form = Text([ONE, OTHER], Style())
    assert form.of([line(b"a"), line(b"b", OTHER)]) == b"trainer-0  | a\npserver-10 | b\n"


def test_one_replica_alone_passes_on_its_bytes() -> None:
    form = Text([ONE], Style(prefix=False))
    text = b"\x00\xff\x1b[2J 1%\r 2%"
    assert form.of([line(text, ended=False), line(b"\r3%")]) == text + b"\r3%\n"
    assert form.end() == b""


def test_pieces_of_a_line_stay_together_until_somebody_else_speaks() -> None:
    form = Text([ONE, OTHER], Style())
    found = form.of([line(b"a", ended=False), line(b"b", ended=False), line(b"c")])
    assert found == b"trainer-0  | abc\n"
    found = form.of([line(b"a", ended=False), line(b"x", OTHER), line(b"c", ended=False)])
    assert found + form.end() == b"trainer-0  | a\npserver-10 | x\ntrainer-0  | c\n"


def test_timestamps_stand_after_the_prefix() -> None:
    form = Text([ONE], Style(timestamps=True))
    assert form.of([line(b"a", second=7)]) == b"trainer-0 | " + at(7) + b" a\n"


def test_colours_tell_replicas_apart() -> None:
    form = Text([ONE, OTHER], Style(color=True))
    found = form.of([line(b"a"), line(b"b", OTHER)])
    assert found == b"\x1b[36mtrainer-0  |\x1b[0m a\n\x1b[33mpserver-10 |\x1b[0m b\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"plain\ttext", b"plain\ttext"),
        (b" 10%\r 50%\r100%", b"100%"),
        (b"100%\r", b"100%"),
        (b"\x1b[31mred", b"\x1b[31mred\x1b[0m"),
        (b"\x1b[2J\x1b[1;1Hmoved\x1b[K", b"moved"),
        (b"\x1b]0;title\x07text", b"text"),
        (b"nul \x00", "nul \N{REPLACEMENT CHARACTER}".encode()),
        (b"bad \xff", "bad \N{REPLACEMENT CHARACTER}".encode()),
    ],
)
def test_a_terminal_with_many_replicas_shows_what_stays(written: bytes, shown: bytes) -> None:
    assert seen(written) == shown


@given(st.binary())
def test_nothing_moves_the_cursor_of_a_terminal_with_many_replicas(text: bytes) -> None:
    left = seen(text.replace(b"\n", b""))
    assert not [each for each in left if each < 32 and each not in b"\t\x1b"]
    assert all(part.partition(b"m")[1] for part in left.split(b"\x1b[")[1:])
    left.decode()


def test_json_has_one_object_per_line() -> None:
    found = Json().of([line(b'"\xff', OTHER, 3), line(b"p", ended=False)]).splitlines()
    assert [json.loads(each) for each in found] == [
        {
            "time": at(3).decode(),
            "role": "pservers",
            "index": 10,
            "name": "a-pserver-10",
            "text": '"\N{REPLACEMENT CHARACTER}',
        },
        {
            "time": at(0).decode(),
            "role": "trainers",
            "index": 0,
            "name": "a-trainer-0",
            "text": "p",
            "partial": True,
        },
    ]
