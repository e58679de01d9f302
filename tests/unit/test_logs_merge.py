"""Many logs as one: every line exactly once, in order, while files grow, move and go away."""

from __future__ import annotations

import os
import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.backends.local.logs.log_reader import FileReader, LocalLogs
from paddlespec.backends.local.logs.log_writer import Clock, LogWriter
from paddlespec.logs.line import Source
from paddlespec.logs.merge import merged
from paddlespec.logs.start import Start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from paddlespec.logs.line import Line


class Ticks(Clock):
    """A clock that ticks when it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0

    def __call__(self) -> bytes:
        self.now += 1
        return self.stamp(self.now) + b" "

    @staticmethod
    def stamp(now: int) -> bytes:
        minutes, seconds = divmod(now, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        return b"2026-01-%02dT%02d:%02d:%02d.000000000Z" % (days + 1, hours, minutes, seconds)


def source(index: int) -> Source:
    return Source("trainers", index, f"a-trainer-{index}")


def path(folder: Path, index: int) -> str:
    return str(folder / f"{source(index).name}.log")


def logs(
    folder: Path,
    count: int = 1,
    start: Start | None = None,
    is_over: Callable[[], bool] = lambda: True,
    told: list[str] | None = None,
) -> LocalLogs:
    tell = (told if told is not None else []).append
    readers = [FileReader(source(each), path(folder, each), tell, start) for each in range(count)]
    return LocalLogs(readers, is_over)


def put(folder: Path, rows: Sequence[tuple[int, bytes]], index: int = 0, name: str = "") -> None:
    data = b"".join(Ticks.stamp(second) + b" " + text + b"\n" for second, text in rows)
    with open(path(folder, index) + name, "ab") as file:
        file.write(data)


def nothing() -> None:
    """No time passes."""


def read(found: LocalLogs, *, follow: bool = False) -> list[Line]:
    lines = [each for lines in merged(found, follow=follow, wait=nothing) for each in lines]
    for each in found.readers():
        each.close()
    return lines


def texts(found: LocalLogs) -> list[bytes]:
    return [each.text for each in read(found)]


ACTION = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 2), st.sampled_from([0, 1, 7, 90, 70_000])),
    st.tuples(st.just("partial"), st.integers(0, 2), st.integers(1, 50)),
    st.tuples(st.just("look"), st.integers(1, 4), st.just(0)),
)


@given(st.lists(ACTION, max_size=60))
def test_every_line_comes_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    clock = Ticks()
    writers = [LogWriter(path(folder, each), clock, largest=400, files=30) for each in range(3)]
    expected: list[list[bytes]] = [[], [], []]
    steps = iter(actions)
    state = {"over": False, "looks": 0}

    def write() -> None:
        """What happens between two looks."""
        if state["looks"] > 0:
            state["looks"] -= 1
            return
        for what, which, size in steps:
            if what == "look":
                state["looks"] = which
                return
            text = b"%d:%d" % (which, clock.now) + b"x" * size
            if what == "write":
                writers[which].end_line()
                text += b"\n"
            writers[which].write(text)
            expected[which].append(text)
        for each in writers:
            each.end_line()
            each.close()
        state["over"] = True

    def is_over() -> bool:
        write()
        return bool(state["over"])

    lines = read(logs(folder, 3, is_over=is_over), follow=True)
    for which in range(3):
        own = [each for each in lines if each.source == source(which)]
        got = b"".join(each.text for each in own)
        assert got == b"".join(expected[which]).replace(b"\n", b"")
    whole = [each.order for each in lines if each.ended]
    if not any(what == "partial" for what, _, _ in actions):
        assert whole == sorted(whole)


@given(st.lists(st.lists(st.integers(0, 86_000), max_size=40).map(sorted), min_size=1, max_size=5))
def test_what_is_there_is_merged_as_a_sort_would(
    tmp_path_factory: pytest.TempPathFactory, times: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    for index, own in enumerate(times):
        put(folder, [(each, b"y" * 3000) for each in own], index)
    lines = read(logs(folder, len(times)))
    assert [each.time for each in lines] == sorted(
        Ticks.stamp(each) for own in times for each in own
    )


def test_rotated_files_come_first_and_none_twice(tmp_path: Path) -> None:
    for number, name in enumerate((".2", ".1", "")):
        put(tmp_path, [(number, b"%d" % number)], name=name)
    assert texts(logs(tmp_path)) == [b"0", b"1", b"2"]


def test_a_file_that_ends_within_a_line_ends_the_line(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"cut")], name=".1")
    os.truncate(path(tmp_path, 0) + ".1", os.path.getsize(path(tmp_path, 0) + ".1") - 1)
    put(tmp_path, [(2, b"next")])
    assert texts(logs(tmp_path)) == [b"cut", b"next"]


def test_what_is_written_just_before_a_file_moves_is_read(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"first")])

    class Busy(os.PathLike[str]):
        """A path whose file is written to and moved between two looks at it."""

        looks = 0

        def __str__(self) -> str:
            return path(tmp_path, 0)

        def __fspath__(self) -> str:
            self.looks += 1
            if self.looks == 2:
                put(tmp_path, [(2, b"second")])
                os.rename(str(self), f"{self}.1")
                put(tmp_path, [(3, b"third")])
            return str(self)

    busy = Busy()
    told: list[str] = []
    reader = FileReader(source(0), busy, told.append)  # type: ignore[arg-type]
    busy.looks = 0
    assert texts(LocalLogs([reader], lambda: True)) == [b"first", b"second", b"third"]
    assert busy.looks > 2
    assert told == []


def test_a_long_line_keeps_its_place(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"x" * 300_000)])
    put(tmp_path, [(2, b"later")], index=1)
    assert [len(each) for each in texts(logs(tmp_path, 2))] == [300_000, 5]


def test_a_process_that_starts_later_is_followed_from_its_first_line(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"first")])
    looks = iter(range(10))

    def is_over() -> bool:
        look = next(looks)
        if look == 4:
            put(tmp_path, [(2, b"later")], index=1)
        return look > 6

    found = read(logs(tmp_path, 2, is_over=is_over), follow=True)
    assert [each.text for each in found] == [b"first", b"later"]


def test_lines_that_are_written_a_little_late_come_in_their_place(tmp_path: Path) -> None:
    looks = iter(range(10))

    def is_over() -> bool:
        look = next(looks)
        if look == 1:
            put(tmp_path, [(5, b"five")], index=0)
        if look == 2:
            put(tmp_path, [(4, b"four")], index=1)
        return look > 6

    found = read(logs(tmp_path, 2, is_over=is_over), follow=True)
    assert [each.text for each in found] == [b"four", b"five"]


def test_what_has_no_end_is_shown_while_following_and_goes_on(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"begun")])
    with open(path(tmp_path, 0), "r+b") as file:
        file.truncate(os.path.getsize(file.name) - 1)
    looks = iter(range(30))

    def is_over() -> bool:
        look = next(looks)
        if look == 15:
            with open(path(tmp_path, 0), "ab") as file:
                file.write(b" and ended\n")
        return look > 20

    found = read(logs(tmp_path, is_over=is_over), follow=True)
    assert [(each.text, each.ended) for each in found] == [
        (b"begun", False),
        (b" and ended", True),
    ]


def test_what_has_no_end_is_there_at_the_end(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"a"), (2, b"b")])
    with open(path(tmp_path, 0), "r+b") as file:
        file.truncate(os.path.getsize(file.name) - 1)
    assert [(each.text, each.ended) for each in read(logs(tmp_path))] == [
        (b"a", True),
        (b"b", False),
    ]


def test_a_file_that_is_cut_off_is_told_and_read_from_its_beginning(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"a" * 100)])
    told: list[str] = []
    looks = iter(range(10))

    def is_over() -> bool:
        look = next(looks)
        if look == 3:
            os.truncate(path(tmp_path, 0), 0)
            put(tmp_path, [(2, b"b")])
        return look > 6

    found = read(logs(tmp_path, is_over=is_over, told=told), follow=True)
    assert [each.text for each in found] == [b"a" * 100, b"b"]
    assert told == ["trainer-0: its log was truncated; lines may be missing here"]


def test_a_file_that_went_away_before_the_next_was_read_is_told(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"a")])
    told: list[str] = []
    looks = iter(range(10))

    def is_over() -> bool:
        look = next(looks)
        if look == 3:
            os.rename(path(tmp_path, 0), tmp_path / "aside")
            put(tmp_path, [(9, b"b")])
        return look > 6

    found = read(logs(tmp_path, is_over=is_over, told=told), follow=True)
    assert [each.text for each in found] == [b"a", b"b"]
    assert told == ["trainer-0: its log was rotated; lines may be missing here"]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 99])
@pytest.mark.parametrize("size", [1, 40_000])
def test_the_last_lines_come_from_as_many_files_as_it_takes(
    tmp_path: Path, count: int, size: int
) -> None:
    rows = [(each, b"%d" % each * size) for each in range(6)]
    for name, own in ((".2", rows[:2]), (".1", rows[2:4]), ("", rows[4:])):
        put(tmp_path, own, name=name)
    assert texts(logs(tmp_path, start=Start(lines=count))) == [
        text for _, text in (rows[-count:] if count else [])
    ]


def test_a_line_that_has_begun_comes_whole_where_only_new_ones_are_wanted(tmp_path: Path) -> None:
    put(tmp_path, [(1, b"old")])
    with open(path(tmp_path, 0), "ab") as file:
        file.write(Ticks.stamp(2) + b" new")
    assert texts(logs(tmp_path, start=Start(lines=0))) == [b"new"]


def test_the_last_lines_are_those_that_match(tmp_path: Path) -> None:
    put(tmp_path, [(each, b"loss" if each in (2, 5, 6) else b"other") for each in range(9)])
    found = read(logs(tmp_path, start=Start(lines=2, matches=lambda row: b"loss" in row)))
    assert found[0].time == Ticks.stamp(5)


@given(st.lists(st.integers(0, 86_000), max_size=60).map(sorted), st.integers(0, 86_400))
def test_since_begins_at_the_first_line_that_is_not_older(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], since: int
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    half = len(times) // 2
    put(folder, [(each, b"z" * 9000) for each in times[:half]], name=".1")
    put(folder, [(each, b"z" * 9000) for each in times[half:]])
    found = read(logs(folder, start=Start(time=Ticks.stamp(since))))
    assert [each.time for each in found] == [Ticks.stamp(each) for each in times if each >= since]


def test_since_begins_at_the_first_of_many_lines_of_one_time(tmp_path: Path) -> None:
    put(tmp_path, [(each, b"z" * 9000) for each in [1] * 9 + [5] * 30 + [6] * 30])
    assert len(texts(logs(tmp_path, start=Start(time=Ticks.stamp(5))))) == 60


def test_since_and_a_number_of_lines_both_hold(tmp_path: Path) -> None:
    put(tmp_path, [(each, b"%d" % each) for each in range(9)])
    assert texts(logs(tmp_path, start=Start(lines=2, time=Ticks.stamp(3)))) == [b"7", b"8"]
    assert texts(logs(tmp_path, start=Start(lines=8, time=Ticks.stamp(6)))) == [b"6", b"7", b"8"]


def test_very_long_lines_and_any_bytes_survive(tmp_path: Path) -> None:
    random.seed(1)
    rows = [random.randbytes(1_000_000).replace(b"\n", b"") for _ in range(3)]
    put(tmp_path, list(enumerate(rows)))
    assert texts(logs(tmp_path)) == rows
    assert texts(logs(tmp_path, start=Start(lines=1))) == rows[2:]


def flood(folder: Path, index: int, megabytes: int) -> int:
    """A log of that many megabytes; the number of its lines."""
    row = b"".join(
        Ticks.stamp(each % 86_000) + b" " + b"step %7d" % each + b" loss 0.123" * 6 + b"\n"
        for each in range(10_000)
    )
    blocks = megabytes * 1_000_000 // len(row)
    with open(path(folder, index), "wb") as file:
        file.writelines(row for _ in range(blocks))
    return blocks * 10_000


def test_a_hundred_megabytes_take_little_memory(tmp_path: Path) -> None:
    count = sum(flood(tmp_path, each, 50) for each in range(2))
    both = logs(tmp_path, 2)
    tracemalloc.start()
    try:
        found = sum(len(lines) for lines in merged(both, follow=True, wait=nothing))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        for each in both.readers():
            each.close()
    assert found == count
    assert peak < 4_000_000


def test_the_end_of_a_large_file_is_found_without_reading_it(tmp_path: Path) -> None:
    with open(path(tmp_path, 0), "wb") as file:
        file.truncate(1 << 40)  # a hole that nobody can read through
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    put(tmp_path, [(each, b"%d" % each) for each in range(9)])
    assert texts(logs(tmp_path, start=Start(lines=3))) == [b"6", b"7", b"8"]
