"""A second try is for a stage that failed, is counted, and is no habit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SUITE = """\
import pytest
from control_plane.failure import StageError

tries = []


def fails_once(error):
    tries.append(error)
    if len(tries) == 1:
        raise error


@pytest.fixture
def stage():
    fails_once(StageError("no answer"))


def test_whose_stage_fails(stage): ...
"""
MANY = """\


@pytest.mark.parametrize("number", range(1000))
def test_of_many(number):
    if number < FAILING and number not in tries:
        tries.append(number)
        raise StageError("no answer")
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # What a worker imports it finds where the process that starts it looked first.
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = filter(None, (str(TESTS / "support"), str(TESTS / "cluster"), *before))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders))
    pytester.makeconftest('pytest_plugins = ("second_try",)')
    return pytester


def run(suite: pytest.Pytester, text: str) -> pytest.RunResult:
    suite.makepyfile(test_it=text)
    return suite.runpytest_inprocess("-p", "no:cacheprovider")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stage_that_fails_once_is_told_and_tolerated(
    suite: pytest.Pytester, workers: int
) -> None:
    suite.makepyfile(test_it=SUITE)
    ended = suite.runpytest_subprocess("-p", "no:cacheprovider", f"--numprocesses={workers}")
    ended.assert_outcomes(passed=1)
    assert ended.ret == pytest.ExitCode.OK
    ended.stdout.fnmatch_lines(
        ["*1 second tries: tolerated*", "test_it.py::test_whose_stage_fails: no answer"]
    )


def test_a_stage_that_fails_twice_is_an_error(suite: pytest.Pytester) -> None:
    ended = run(suite, SUITE.replace("len(tries) == 1", "len(tries) < 3"))
    ended.assert_outcomes(errors=1)


def test_any_other_failure_counts_at_once(suite: pytest.Pytester) -> None:
    ended = run(suite, SUITE.replace('StageError("no answer")', 'ValueError("wrong")'))
    ended.assert_outcomes(errors=1)
    ended.stdout.no_fnmatch_line("*second tries*")


@pytest.mark.parametrize(("failing", "code"), [(5, 0), (6, 1)])
def test_too_many_fail_the_run(suite: pytest.Pytester, failing: int, code: int) -> None:
    text = SUITE.partition("@pytest.fixture")[0] + MANY.replace("FAILING", str(failing))
    ended = run(suite, text)
    ended.assert_outcomes(passed=1000)
    assert ended.ret == code
