"""How the runs of jobs are shown, wherever they are recorded."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from paddlespec.report.runs import (
    lasted,
    listed,
    one,
    runs,
)
from paddlespec.report.table import Column, table
from paddlespec.report.width import cells
from paddlespec.runs.history import (
    History,
    Provenance,
    Recorded,
    RunRecord,
    State,
    decode,
)
from paddlespec.spec.emit import dump

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=timezone.utc)
CI = "https://ci.example.org/ads/ranking/-/jobs/4711"


def at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def record(number: int = 1, state: State = State.succeeded, **fields: Any) -> RunRecord:
    source = Provenance("alice", "0123456789abcdef", dirty=True, ci=CI)
    start = NOW - timedelta(hours=2)
    known: dict[str, Any] = {"uid": "u", "started": at(start), "fingerprint": "ab12"}
    finished = at(start + timedelta(minutes=3, seconds=20)) if state is not State.running else None
    return RunRecord(number, state, source)._replace(**{**known, "finished": finished, **fields})


def recorded(*found: RunRecord, job: str = "fit") -> Recorded:
    return Recorded("ads", job, History(found))


def test_a_line_says_what_a_person_asks_first() -> None:
    shown = runs([recorded(record())], NOW)
    assert shown.splitlines() == [
        "NAME  RUN  STATE      STARTED                TIME  WHO    COMMIT",
        "fit     1  succeeded  2026-01-31T10:00:00Z  3m20s  alice  0123456+dirty",
    ]


def test_wide_lines_have_the_hash_and_the_page_of_the_ci_job() -> None:
    wide = runs([recorded(record())], NOW, wide=True)
    assert "ab12" in wide
    assert CI in wide
    assert CI not in runs([recorded(record())], NOW)


def test_namespaces_come_first() -> None:
    assert runs([recorded(record())], NOW, spaces=True).startswith("NAMESPACE  NAME")


def test_a_run_that_goes_on_has_lasted_until_now() -> None:
    assert "2h" in runs([recorded(record(state=State.running))], NOW)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (200, "3m20s"),
        (7980, "2h13m"),
        (86_400, "1d"),
        (86_459, "1d"),
        (90_000, "1d1h"),
    ],
)
def test_how_long_a_run_took(seconds: int, expected: str) -> None:
    start = NOW - timedelta(days=9)
    found = record(started=at(start), finished=at(start + timedelta(seconds=seconds)))
    assert lasted(found, NOW) == expected


def test_what_nobody_saw_has_no_length() -> None:
    assert lasted(record(state=State.lost, finished=None), NOW) == ""
    assert lasted(record(state=State.intended, started=None, finished=None), NOW) == ""
    assert lasted(record(started="yesterday"), NOW) == ""


def test_data_names_everything_that_is_known() -> None:
    found = listed([recorded(record(), record(2, State.running))])
    (job,) = found["jobs"]
    assert (job["namespace"], job["name"]) == ("ads", "fit")
    assert [each["run"] for each in job["runs"]] == [1, 2]
    assert job["runs"][0]["dirty"] is True
    assert job["runs"][1]["finished"] is None


def test_one_run_has_its_spec_as_it_was_stored() -> None:
    spec = 'kind: PaddleJob\nspec:\n  env:\n    A: "010"\n    B: "on"\n    C: 1.5\n'
    found: Any = one(recorded(record()), record(spec=spec))["spec"]
    assert found["spec"]["env"] == {"A": "010", "B": "on", "C": 1.5}
    assert dump(found) == spec


def test_no_rows_no_heads() -> None:
    assert table([Column("A")], []) == ""


def test_no_cell_is_empty_so_that_columns_can_be_counted() -> None:
    shown = table([Column("A"), Column("B")], [["", "x"], ["y", ""]])
    assert [line.split() for line in shown.splitlines()] == [["A", "B"], ["-", "x"], ["y", "-"]]


COLUMNS = [Column("NAME", cut=True), Column("N", right=True), Column("WHO", cut=True)]


@pytest.mark.parametrize("width", [30, 40, 80])
def test_lines_fit_a_terminal(width: int) -> None:
    rows = [["x" * 60, "12", "张三" * 20], ["short", "3", "me"]]
    shown = table(COLUMNS, rows, width=width).splitlines()
    assert all(cells(line) <= width for line in shown)
    assert "…" in shown[1]
    assert "…" not in shown[2]


def test_what_would_not_fit_in_any_case_is_not_cut_in_vain() -> None:
    columns = [Column("NAME", cut=True), Column("ADDRESS")]
    assert "…" not in table(columns, [["word2vec-trainer-0", "a" * 60]], width=60)


def test_nothing_is_cut_where_nothing_breaks_lines() -> None:
    assert "…" not in table(COLUMNS, [["x" * 300, "1", "y" * 300]])


def test_what_others_wrote_cannot_do_anything_to_a_terminal() -> None:
    shown = table([Column("A")], [["a\x1b[31mb\nc"]])
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 2


DAMAGED = (
    *("{", '{"run": 1}', "[1]", "null"),
    '[{"state": "running", "who": "me"}]',
    '[{"run": 1, "state": "resting", "who": "me"}]',
    '[{"run": "1", "state": "running", "who": "me"}]',
    '[{"run": true, "state": "running", "who": "me"}]',
    '[{"run": 1, "state": "running", "who": 5}]',
    '[{"run": 1, "state": "running", "who": "me", "started": 5}]',
)


@pytest.mark.parametrize("text", DAMAGED)
def test_what_is_no_history_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
        decode({"runs.json": text})


def test_what_another_version_wrote_besides_is_let_be() -> None:
    (run,) = decode({"runs.json": '[{"run": 1, "state": "lost", "who": "me", "cost": 5}]'}).runs
    assert (run.number, run.state) == (1, State.lost)
