"""Pauses between looks: short at first, then longer, never too long."""

from __future__ import annotations

from itertools import islice, pairwise

from paddlespec.runs.backoff import Backoff


def test_pauses_grow_to_the_cap_and_stay_there() -> None:
    pauses = list(islice(Backoff().pauses(), 100))
    assert pauses[0] == 0.1
    assert all(before <= after for before, after in pairwise(pauses))
    assert set(pauses[20:]) == {2.0}


def test_what_ends_soon_is_seen_soon() -> None:
    """The next look comes within half of the time so far, and ten seconds take few looks."""
    pauses = Backoff().pauses()
    elapsed, looks = next(pauses), 1
    while elapsed < 10:
        pause = next(pauses)
        assert pause <= max(elapsed / 2, 0.25)
        elapsed, looks = elapsed + pause, looks + 1
    assert looks < 15


def test_bounds_are_the_callers() -> None:
    assert list(islice(Backoff(1, 2, 5).pauses(), 5)) == [1, 2, 4, 5, 5]
