"""`logs` for rehearsals on this machine."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import outputs
import pytest

from paddlespec.backends.local.logs.log_writer import Clock, LogWriter
from paddlespec.backends.local.store import launch, run_state
from paddlespec.backends.local.store.run_state import Culprit, Phase, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPLICAS = (("trainers", 0), ("trainers", 1), ("pservers", 0))


class Run:
    """A run supervised by the test."""

    def __init__(
        self,
        home: Path,
        job: str = "fit",
        number: int = 1,
        space: str = "default",
        replicas: tuple[tuple[str, int], ...] = REPLICAS,
    ):
        self.job = job
        self.folder = home / "paddlespec" / "local" / space / job / "runs" / str(number)
        (self.folder / "logs").mkdir(parents=True)
        processes = tuple(
            launch.Process(self.name(role, index), role, index, ("train",), {}, "/")
            for role, index in replicas
        )
        text = launch.dump(launch.Launch(job, "uid", processes))
        (self.folder / "launch.json").write_text(text)
        (self.folder.parent.parent / "runs.json").write_text("[]")
        self._clock = Clock()
        self._writers: dict[str, LogWriter] = {}
        self._lock: int | None = None

    def name(self, role: str, index: int) -> str:
        return f"{self.job}-{role.removesuffix('s')}-{index}"

    def write(self, text: bytes, role: str = "trainers", index: int = 0) -> None:
        name = self.name(role, index)
        if name not in self._writers:
            path = str(self.folder / "logs" / f"{name}.log")
            self._writers[name] = LogWriter(path, self._clock, largest=1000)
        self._writers[name].write(text)

    def begin(self) -> None:
        self._lock = os.open(run_state.lock_file(str(self.folder)), os.O_RDWR | os.O_CREAT)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._tell(Phase.running)

    def end(self, phase: Phase = Phase.succeeded, culprit: Culprit | None = None) -> None:
        for writer in self._writers.values():
            writer.close()
        self._tell(phase, culprit)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _tell(self, phase: Phase, culprit: Culprit | None = None) -> None:
        host = os.uname().nodename
        status = Status(self.job, "uid", phase, culprit=culprit, boot=run_state.boot(), host=host)
        assert run_state.write(str(self.folder), status)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    created = Run(tmp_path)
    yield created
    created.end()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "paddlespec", "logs", *arguments]


def variables(home: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(home), "TERM": "xterm"}


def logs(home: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(*arguments), cwd=home, env=variables(home), capture_output=True, check=False
    )


def shown(home: Path, *arguments: str) -> list[bytes]:
    done = logs(home, *arguments)
    assert done.returncode == 0, done.stderr
    outputs.check(("logs", *arguments), done.stdout.decode(errors="replace"))
    return done.stdout.splitlines()


def talk(run: Run) -> None:
    """Write output of three replicas in turn."""
    run.write(b"up\n", "pservers")
    for step in range(3):
        run.write(b"step %d\n" % step, "trainers", step % 2)
    run.write(b"down\n", "pservers")
    run.end()


def test_all_replicas_are_merged_by_time(run: Run, tmp_path: Path) -> None:
    talk(run)
    assert shown(tmp_path, "fit") == [
        b"pserver-0 | up",
        b"trainer-0 | step 0",
        b"trainer-1 | step 1",
        b"trainer-0 | step 2",
        b"pserver-0 | down",
    ]


def test_a_spec_says_which_job_it_is(run: Run, tmp_path: Path) -> None:
    talk(run)
    spec = "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {name: fit}\n"
    (tmp_path / "paddlejob.yaml").write_text(spec)
    assert len(shown(tmp_path, "paddlejob.yaml", "--target", "local")) == 5


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (["--role", "pservers"], [b"up", b"down"]),
        (["--role", "trainer", "--index", "1"], [b"step 1"]),
        (["--index", "1"], [b"step 1"]),
        (["--index", "1", "--prefix"], [b"trainer-1 | step 1"]),
        (["-n", "1"], [b"trainer-1 | step 1", b"trainer-0 | step 2", b"pserver-0 | down"]),
        (["-n", "1", "--grep", "[01]$"], [b"trainer-0 | step 0", b"trainer-1 | step 1"]),
        (["--grep", "^(up|down)$", "--no-prefix"], [b"up", b"down"]),
        (["--since", "1h", "--role", "pservers"], [b"up", b"down"]),
        (["--since", "2100-01-01T00:00:00Z"], []),
    ],
    ids=lambda value: " ".join(value) if all(isinstance(part, str) for part in value) else "",
)
def test_options_choose_lines(
    run: Run, tmp_path: Path, options: list[str], lines: list[bytes]
) -> None:
    talk(run)
    assert shown(tmp_path, "fit", *options) == lines


def test_since_takes_the_time_that_timestamps_show_in_any_zone(run: Run, tmp_path: Path) -> None:
    talk(run)
    lines = shown(tmp_path, "fit", "--timestamps")
    time = lines[2].split()[2].decode()
    assert shown(tmp_path, "fit", "--timestamps", "--since", time) == lines[2:]
    east = datetime.fromisoformat(time[:19] + "+00:00").astimezone(timezone(timedelta(hours=8)))
    there = f"{east:%Y-%m-%dT%H:%M:%S}{time[19:-1]}+08:00"
    assert shown(tmp_path, "fit", "--timestamps", "--since", there) == lines[2:]


def test_json_is_one_object_per_line(run: Run, tmp_path: Path) -> None:
    talk(run)
    lines = [json.loads(line) for line in shown(tmp_path, "fit", "-o", "json")]
    assert [(line["role"], line["index"], line["text"]) for line in lines[:2]] == [
        ("pservers", 0, "up"),
        ("trainers", 0, "step 0"),
    ]


def test_bytes_are_passed_on_as_they_are(run: Run, tmp_path: Path) -> None:
    written = bytes(number for number in range(256)) + b"\x1b[2J\r50%\r100%"
    run.write(written)
    run.end()
    assert logs(tmp_path, "fit", "--role", "trainers", "--index", "0").stdout == written


def test_following_ends_with_the_run_and_misses_nothing(run: Run, tmp_path: Path) -> None:
    run.begin()
    run.write(b"first\n")
    with subprocess.Popen(
        command("fit", "-f"), env=variables(tmp_path), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"trainer-0 | first\n"
        for begin in range(0, 200, 10):  # through many files
            for step in range(begin, begin + 10):
                run.write(b"step %3d\n" % step)
            run.write(b"late %3d\n" % begin, "pservers")
            for step in range(begin, begin + 10):
                assert process.stdout.readline() == b"trainer-0 | step %3d\n" % step
            assert process.stdout.readline() == b"pserver-0 | late %3d\n" % begin
        run.write(b"last\n")
        run.end()
        rest = process.stdout.read()
    assert rest == b"trainer-0 | last\n"
    assert process.returncode == 0


def test_following_notices_that_nobody_reads_any_more(run: Run, tmp_path: Path) -> None:
    run.begin()
    run.write(b"first\n")
    process = subprocess.Popen(
        command("fit", "-f"),
        env=variables(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_a_supervisor_that_is_gone_ends_the_following(run: Run, tmp_path: Path) -> None:
    run.begin()
    run.write(b"last words")
    assert run._lock is not None
    os.close(run._lock)
    run._lock = None
    done = logs(tmp_path, "fit", "-f")
    assert done.stdout == b"trainer-0 | last words\n"
    assert b"run 1 of fit was lost: the supervisor is no longer running" in done.stderr
    assert done.returncode == 0


def test_who_failed_first_is_told_at_the_end(run: Run, tmp_path: Path) -> None:
    run.write(b"Traceback\n")
    run.end(Phase.failed, Culprit("fit-trainer-1", "exit code 1"))
    done = logs(tmp_path, "fit")
    assert done.returncode == 0
    assert (
        done.stderr
        == b"paddlespec: run 1 of fit failed; first failure: fit-trainer-1, exit code 1\n"
    )


def test_earlier_runs_are_read_too(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        one = Run(tmp_path, number=number)
        one.write(b"%d\n" % number)
        one.end()
    assert shown(tmp_path, "fit", "--no-prefix") == [b"10"]
    assert shown(tmp_path, "fit", "--no-prefix", "--previous") == [b"2"]
    assert shown(tmp_path, "fit", "--no-prefix", "--run", "1") == [b"1"]
    done = logs(tmp_path, "fit", "--run", "3")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"fit has no run 3" in done.stderr
    assert b"use one of its runs: 1, 2, 10" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fti"], 3, 'did you mean "fit"?'),
        (["quite-another"], 3, "quite-another has not run on this machine"),
        (["fit", "--namespace", "ads"], 3, "fit has not run on this machine in namespace ads"),
        (["fit", "--index", "7"], 3, "it has 2 trainers, 1 pservers"),
        (["fit", "--role", "cooks"], 3, "fit has no cooks"),
        (["fit", "--role", "c_k"], 2, "expected the name of a role, such as trainers"),
        (["fit", "--since", "soon"], 2, "expected a duration such as 10m, or an RFC 3339 time"),
        (
            ["fit", "--since", "2026-13-01T00:00:00Z"],
            2,
            'invalid value "2026-13-01T00:00:00Z" for --since',
        ),
        (["fit", "--grep", "("], 2, "not a regular expression"),
        (["fit", "-o", "xml"], 2, "expected one of text, json"),
        (["fit", "--previous"], 3, "fit has no run before run 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_shown_is_told(
    run: Run, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    talk(run)
    done = logs(tmp_path, *arguments)
    assert done.stdout == b""
    assert message in done.stderr.decode()
    assert done.returncode == code


def test_a_job_of_several_namespaces_needs_one_named(tmp_path: Path) -> None:
    for space in ("ads", "web"):
        one = Run(tmp_path, space=space)
        one.write(space.encode() + b"\n")
        one.end()
    assert b"several namespaces: ads, web" in logs(tmp_path, "fit").stderr
    assert shown(tmp_path, "fit", "--namespace", "web", "--no-prefix") == [b"web"]


def test_many_replicas_are_read_where_few_files_may_be_open(tmp_path: Path) -> None:
    many = Run(tmp_path, replicas=tuple(("trainers", index) for index in range(200)))
    for index in range(200):
        many.write(b"up\n", "trainers", index)
    many.end()
    done = subprocess.run(
        ["sh", "-c", 'ulimit -Sn 100 && exec "$@"', "sh", *command("fit", "--no-prefix")],
        env=variables(tmp_path),
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"up\n" * 200, done.stderr


def test_a_terminal_gets_colours_and_no_control_sequences(run: Run, tmp_path: Path) -> None:
    run.write(b" 1%\r100%\x1b[2J\x00\xff\n")
    run.end()
    ours, theirs = pty.openpty()
    with subprocess.Popen(command("fit"), env=variables(tmp_path), stdout=theirs) as process:
        os.close(theirs)
        output = b""
        try:
            while more := os.read(ours, 1000):
                output += more
        except OSError:  # how a terminal says that the other end has gone
            pass
    os.close(ours)
    assert process.returncode == 0
    expected = "\x1b[36mtrainer-0 |\x1b[0m 100%\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert output.decode().splitlines() == [expected]
