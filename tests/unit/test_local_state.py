"""The state of a run, and its logs: what is read is what was written, whatever happens between."""

from __future__ import annotations

import fcntl
import os
import re
from typing import TYPE_CHECKING

import pytest

from paddlespec.backends.local.logs.log_writer import Clock, LogWriter
from paddlespec.backends.local.store import launch, run_state
from paddlespec.backends.local.store.launch import Fresh
from paddlespec.backends.local.store.run_state import (
    Culprit,
    Phase,
    Replica,
    Status,
    Step,
)
from paddlespec.backends.local.supervisor import verdict
from paddlespec.quantity import as_size

if TYPE_CHECKING:
    from pathlib import Path

RUNNING = Status(
    "fit",
    "uid-1",
    Phase.running,
    (
        Replica("fit-trainer-0", "trainers", 0, Step.running, ready=True, pid=42),
        Replica("fit-trainer-1", "trainers", 1, Step.ended, code=7),
    ),
    culprit=Culprit("fit-trainer-1", "exit code 7", ("last", "words")),
    lost={"fit-trainer-1": 5},
    boot=run_state.boot(),
    host=os.uname().nodename,
)
LINE = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (.*\n)", re.DOTALL)


def held(folder: Path) -> int:
    fd = os.open(run_state.lock_file(str(folder)), os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def texts(path: Path) -> list[bytes]:
    """The lines of a log without their times, which every one has."""
    found = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        match = LINE.fullmatch(line + b"\n")
        assert match, line
        found.append(match[1])
    return found


def test_a_state_is_read_as_it_was_written() -> None:
    assert run_state.parse(run_state.dump(RUNNING)) == RUNNING


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"replicas": 3}'])
def test_what_is_no_state_is_told_from_one(text: str) -> None:
    with pytest.raises(ValueError, match="not the state of a run"):
        run_state.parse(text)


def test_a_run_lives_as_long_as_its_lock_is_held(tmp_path: Path) -> None:
    fd = held(tmp_path)
    run_state.write(str(tmp_path), RUNNING)
    assert run_state.read(str(tmp_path)) == RUNNING
    os.close(fd)
    found = run_state.read(str(tmp_path))
    assert found is not None
    assert (found.phase, found.message) == (Phase.lost, "the supervisor is no longer running")


def test_a_run_that_was_there_before_the_machine_was_started_anew_is_lost(tmp_path: Path) -> None:
    fd = held(tmp_path)
    run_state.write(str(tmp_path), RUNNING._replace(boot="another"))
    found = run_state.read(str(tmp_path))
    os.close(fd)
    assert found is not None
    assert (found.phase, found.message) == (Phase.lost, "the machine was restarted")


def test_a_run_of_another_machine_lives_while_its_lock_is_held(tmp_path: Path) -> None:
    fd = held(tmp_path)
    run_state.write(str(tmp_path), RUNNING._replace(boot="another", host="elsewhere"))
    found = run_state.read(str(tmp_path))
    os.close(fd)
    assert found is not None
    assert found.phase is Phase.running


def test_what_is_over_stays_so(tmp_path: Path) -> None:
    over = RUNNING._replace(phase=Phase.succeeded, boot="another")
    run_state.write(str(tmp_path), over)
    assert run_state.read(str(tmp_path)) == over


def test_a_launch_is_read_as_it_was_written() -> None:
    process = launch.Process(
        "fit-trainer-0",
        "trainers",
        0,
        ("sh", "-c", "echo \N{SNOWMAN}"),
        {"A": "b"},
        "/tmp",
        (("127.0.0.1", 1),),
        ((("127.0.0.2", 2), ("127.0.0.2", 3)),),
        3,
        ("A",),
        (Fresh("/code", "/code.tar"), Fresh("/rank", text="0\n")),
    )
    made = launch.Launch("fit", "uid", (process,), 1.5, 2, 3.0, independent=True)
    assert launch.parse(launch.dump(made)) == made


def test_what_is_written_of_a_launch_holds_no_secret() -> None:
    argv = ("sh", "-c", "login --as hunter2")
    env = {"TOKEN": "hunter2", "URL": "http://hunter2@here", "EMPTY": "", "A": "b"}
    process = launch.Process("a", "trainers", 0, argv, env, "/", secret=("TOKEN", "EMPTY"))
    shown = launch.public(launch.Launch("fit", "uid", (process,)))
    assert "hunter2" not in launch.dump(shown)
    assert shown.processes[0].env["A"] == "b"
    assert shown.processes[0].argv[:2] == argv[:2]


def test_lines_that_come_in_parts_have_one_time_each(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "a.log"), Clock())
    for chunk in (b"on", b"e\ntwo", b"\n", b"\n", b"three"):
        log.write(chunk)
    log.say("attempt 2")
    log.write(b"last")
    log.end_line()
    assert texts(tmp_path / "a.log") == [
        b"one\n",
        b"two\n",
        b"\n",
        b"three\n",
        b"paddlespec: attempt 2\n",
        b"last\n",
    ]


def test_a_line_without_an_end_is_passed_on(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "a.log"), Clock())
    log.write(b"10%\r20%")
    assert (tmp_path / "a.log").read_bytes()[31:] == b"10%\r20%"


@pytest.mark.parametrize("text", [b"0123456789\n", b"x" * 7 + b"\n", b"\n"])
def test_logs_turn_at_line_ends_and_are_never_larger_than_allowed(
    tmp_path: Path, text: bytes
) -> None:
    log = LogWriter(str(tmp_path / "a.log"), Clock(), largest=1000, files=3)
    for _ in range(200):
        log.write(text)
    files = sorted(each.name for each in tmp_path.iterdir())
    assert files == ["a.log", "a.log.1", "a.log.2"]
    for each in tmp_path.iterdir():
        assert set(texts(each)) == {text}
        assert each.stat().st_size <= 1000


def test_logs_that_turn_lose_nothing_while_there_is_room(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "a.log"), Clock(), largest=1000, files=100)
    for number in range(300):
        log.write(f"{number}".encode())
        log.write(b"\n")
    names = sorted(tmp_path.iterdir(), key=lambda each: -int(each.suffix[1:].replace("log", "0")))
    found = [int(line) for each in names for line in texts(each)]
    assert found == list(range(300))


def test_a_line_without_an_end_is_broken_where_the_log_turns(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "a.log"), Clock(), largest=1000, files=3)
    for _ in range(50):
        log.write(b"x" * 100)
    log.end_line()
    for each in tmp_path.iterdir():
        assert set(b"".join(texts(each))) == set(b"x\n")


def test_times_never_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    later = clock()
    monkeypatch.setattr("time.time_ns", lambda: 0)
    assert clock() == later


def test_what_no_log_takes_is_counted_and_said_as_soon_as_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogWriter(str(tmp_path / "none" / "a.log"), Clock())
    log.write(b"gone\n")
    assert (log.lost, log.problem) == (5, "no such file or directory")
    (tmp_path / "none").mkdir()
    monkeypatch.setattr(
        "paddlespec.backends.local.logs.log_writer.time.monotonic", lambda: float("inf")
    )
    log.write(b"kept\n")
    assert texts(tmp_path / "none" / "a.log") == [
        b"paddlespec: 5 bytes of output were lost: no such file or directory\n",
        b"kept\n",
    ]


@pytest.mark.parametrize(
    ("ends", "named"),
    [
        ([verdict.End("a", 1, 1.0), verdict.End("b", 2, 2.0)], "a"),
        ([verdict.End("a", 134, 1.0), verdict.End("b", 2, 1.1)], "b"),
        ([verdict.End("a", 1, 1.0, b"gloo::EnforceNotMet"), verdict.End("b", 7, 1.5)], "b"),
        ([verdict.End("a", 137, 1.0), verdict.End("b", 134, 1.1)], "a"),
        ([verdict.End("a", 134, 1.0), verdict.End("b", 134, 1.1)], "a"),
        ([verdict.End("a", 250, 1.0), verdict.End("b", 247, 1.1)], "b"),
    ],
)
def test_the_culprit_is_named_and_not_the_victim(ends: list[verdict.End], named: str) -> None:
    found = verdict.culprit(ends)
    assert found is not None
    assert found.name == named


def test_last_lines_are_fit_to_be_shown() -> None:
    tail = b"10%\r20%\r\n\x1b[31mred\x00\n\n" + b"x" * 600 + b"\n\xff\n"
    progress, red, long, broken = verdict.last_lines(tail)
    assert progress == "20%"
    assert "\x1b" not in red
    assert "\x00" not in red
    assert len(long) == 503
    assert broken == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (7, "exit code 7"),
        (139, "exit code 139 (segmentation fault)"),
        (245, "exit code 245 (a child process: segmentation fault)"),
        (
            241,
            "exit code 241 (the launcher stopped its processes, usually after another one failed)",
        ),
        (255, "exit code 255"),
        (240, "exit code 240"),
    ],
)
def test_exit_codes_are_told_in_words(code: int, told: str) -> None:
    assert verdict.ending(code) == told


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 B"), (1536, "1.5 KiB"), (2 * 1024**3, "2 GiB"), (1024**5, "1024 TiB")],
)
def test_sizes_are_told_in_units(count: int, told: str) -> None:
    assert as_size(count) == told
