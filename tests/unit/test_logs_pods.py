"""The log of a pod over connections that drop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.backends.cluster.streams.pod_logs import PodReader
from paddlespec.logs.line import Source
from paddlespec.logs.merge import merged
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ONE = Source("trainers", 0, "a-trainer-0")


def row(second: int, text: str) -> str:
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}.000000000Z {text}"


class Kubelet:
    """Serves a log; each connection that follows ends or drops where its *cuts* say so."""

    def __init__(
        self,
        rows: Sequence[str],
        cuts: Sequence[int] = (),
        kept: int = 10**9,
        *,
        quiet: bool = False,
    ) -> None:
        self.quiet = quiet
        self.rows, self.cuts, self.kept = list(rows), list(cuts), kept
        self.asked: list[str | None] = []

    def __call__(self, since: str | None, *, follow: bool) -> Iterator[bytes]:
        self.asked.append(since)
        first = 0 if len(self.asked) == 1 else max(0, len(self.rows) - self.kept)
        rows = [each for each in self.rows[first:] if since is None or each[:19] >= since[:19]]
        data = "".join(f"{each}\n" for each in rows).encode()
        if not self.cuts:
            yield from (data[at : at + 50] for at in range(0, len(data), 50))
            return
        yield data[: self.cuts.pop(0)]
        if self.quiet and follow:
            return
        raise OperationFailed("the connection was reset")


class Pods:
    """Logs of pods whose job is over when its kubelets have nothing more to drop."""

    def __init__(self, kubelet: Kubelet, reader: PodReader) -> None:
        self._kubelet, self._reader = kubelet, reader

    def readers(self) -> list[PodReader]:
        return [self._reader]

    def is_over(self) -> bool:
        if self._kubelet.cuts:
            return False
        self._reader.settle()
        return True


def nothing(_: float = 0) -> None:
    """No time passes."""
    time.sleep(0)


def read(kubelet: Kubelet, told: list[str], *, follow: bool) -> list[str]:
    reader = PodReader(ONE, kubelet, told.append, follow=follow, pause=nothing)
    found = merged(Pods(kubelet, reader), follow=follow, wait=nothing)
    lines = [each for lines in found for each in lines]
    reader.close()
    return [each.text.decode() for each in lines]


@given(
    st.lists(st.tuples(st.integers(0, 8), st.sampled_from("ab")), max_size=30),
    st.lists(st.integers(0, 1200), max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_every_line_comes_once_however_often_the_connection_drops(
    lines: list[tuple[int, str]], cuts: list[int], follow: bool, quiet: bool
) -> None:
    rows = [row(second, text) for second, text in sorted(lines, key=lambda each: each[0])]
    told: list[str] = []
    found = read(Kubelet(rows, cuts, quiet=quiet), told, follow=follow)
    assert found == [each[31:] for each in rows]
    assert told == []


def test_the_log_is_asked_for_again_from_a_second_before() -> None:
    rows = [row(second, "x") for second in range(10)]
    kubelet = Kubelet(rows, [len(rows[0] + "\n") * 6])
    assert len(read(kubelet, [], follow=False)) == 10
    assert kubelet.asked == [None, "2026-01-01T00:00:04Z"]


def test_what_the_kubelet_rotated_away_is_told() -> None:
    rows = [row(second, str(second)) for second in range(60)]
    told: list[str] = []
    found = read(Kubelet(rows, [len(rows[0] + "\n") * 5], kept=10), told, follow=False)
    assert found == [*map(str, range(5)), *map(str, range(50, 60))]
    assert told == ["trainer-0: its log was rotated; lines may be missing here"]


def test_a_log_that_cannot_be_read_is_told_in_the_end() -> None:
    told: list[str] = []
    assert read(Kubelet([row(1, "x")], [0] * 50), told, follow=False) == []
    assert told == ["trainer-0: cannot read its log: the connection was reset"]


@pytest.mark.parametrize(
    "moment", ["2026-01-01T08:00:01.5+08:00", "2026-01-01T00:00:01.500000000Z"], ids=["zone", "utc"]
)
def test_times_are_in_utc(moment: str) -> None:
    kubelet = Kubelet([f"{moment} text"])
    told: list[str] = []
    reader = PodReader(ONE, kubelet, told.append)
    (lines,) = merged(Pods(kubelet, reader), follow=False, wait=nothing)
    assert told == []
    assert lines[0].time == b"2026-01-01T00:00:01.500000000Z"
    assert lines[0].text == b"text"
