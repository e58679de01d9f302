"""`status`, `wait`, `get jobs` and `get workers` for rehearsals on this machine."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, Any

import pytest
from rehearsal import eventually
from test_local_apply import PSERVERS, User, user

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["user"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

FOREVER = "sleep 1000"


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[1:]]


def data(user: User, *arguments: str, code: int = 0) -> Any:
    return json.loads(user.run(*arguments, "-o", "json", code=code).stdout)


def test_a_running_job_is_seen_in_every_form(user: User) -> None:
    user.apply(user.write(FOREVER))
    user.run("wait", "fit", "--for", "ready", "--timeout", "30s")
    listed = user.run("get", "jobs").stdout
    assert listed.splitlines()[0].split() == [
        *("NAME", "MODE", "STATE", "TRAINERS", "PSERVERS", "DONE", "FAIL", "AGE")
    ]
    assert rows(listed)[0][:7] == ["fit", "parallel", "running", "2/2", "-", "0", "0"]
    assert user.run("get", "jobs", "-o", "name").stdout == "fit\n"
    (job,) = data(user, "get", "jobs")["jobs"]
    assert (job["target"], job["state"], job["run"]) == ("local", "running", 1)
    wide = user.run("get", "workers", "fit", "-o", "wide").stdout
    assert [row[:4] for row in rows(wide)] == [
        ["fit-trainer-0", "trainers", "0", "running"],
        ["fit-trainer-1", "trainers", "1", "running"],
    ]
    shown = user.run("status", "fit").stdout
    assert "job:        fit in namespace default (target local)" in shown
    assert "trainers:   2/2 ready" in shown
    assert "paddlespec logs fit -f" in shown


def test_a_job_of_both_roles(user: User) -> None:
    user.apply(user.write(FOREVER, mode="ps", more=PSERVERS))
    user.run("wait", "fit", "--for", "ready", "--timeout", "30s")
    assert rows(user.run("get", "jobs").stdout)[0][1:5] == ["ps", "running", "2/2", "1/1"]
    listed = data(user, "get", "workers", "fit")["workers"]
    assert [worker["role"] for worker in listed] == ["trainers", "trainers", "pservers"]
    assert listed[2]["address"].startswith("127.")


def test_a_failure_names_its_culprit_and_its_last_words(user: User) -> None:
    script = 'echo "no such file: a.csv" && [ $PADDLESPEC_INDEX = 0 ] && exit 7; sleep 1000'
    user.apply(user.write(script))
    result = user.run("wait", "fit", code=4)
    assert "fit-trainer-0: exit code 7" in result.stderr
    shown = user.run("status", "fit", code=4).stdout
    assert "state:      failed: a replica failed" in shown
    assert "  fit-trainer-0: exit code 7\n  | no such file: a.csv" in shown
    assert "paddlespec logs fit\n" in shown
    assert "--target local --rerun" in shown
    first, second = data(user, "get", "workers", "fit")["workers"]
    assert (first["state"], first["exitCode"], first["reason"]) == ("failed", 7, "Error")
    assert (second["state"], second["reason"]) == ("stopped", None)
    assert data(user, "status", "fit", code=4)["failure"].startswith("failed: a replica failed")


def test_what_is_over_is_listed_on_demand(user: User) -> None:
    user.apply(user.write("true"), "--wait", "complete")
    result = user.run("get", "jobs")
    assert result.stdout == ""
    assert "no running jobs in namespace default (use -a to include finished jobs)" in result.stderr
    (row,) = rows(user.run("get", "jobs", "-a").stdout)
    assert row[:3] == ["fit", "parallel", "succeeded"]
    assert user.run("status", "fit").stdout.count("took") == 1
    user.run("wait", "fit", "--timeout", "10s")


def test_a_killed_job(user: User) -> None:
    user.apply(user.write(FOREVER))
    user.run("kill", "fit", "--yes")
    assert data(user, "get", "jobs", "-a")["jobs"][0]["state"] == "killed"
    assert "killed" in user.run("status", "fit", code=3).stdout
    assert "was killed" in user.run("wait", "fit", code=3).stderr
    user.run("wait", "fit", "--for", "killed")
    user.run("wait", "fit", "--for", "deleted")


def test_whose_job_it_is_and_how_it_is_labelled(user: User) -> None:
    for name, team in (("one", "ads"), ("two", "maps")):
        user.apply(user.write("true", name), "-u", f"metadata.labels.team={team}")
    listed = ("get", "jobs", "-a", "-o", "name")
    assert user.run(*listed, "-l", "team=ads").stdout == "one\n"
    assert user.run(*listed, "-l", "team,team notin (ads)").stdout == "two\n"
    assert user.run(*listed, "--user", "nobody-of-that-name").stdout == ""
    (who, _) = (job["user"] for job in data(user, "get", "jobs", "-a")["jobs"])
    assert user.run(*listed, "--user", who).stdout == "one\ntwo\n"
    assert 'invalid selector "=ads"' in user.run(*listed, "-l", "=ads", code=2).stderr


def test_a_wait_ends_when_its_time_does(user: User) -> None:
    user.apply(user.write(FOREVER))
    result = user.run("wait", "fit", "--timeout", "1s", code=5)
    assert "timed out: trainers 2/2 running" in result.stderr
    result = user.run("wait", "fit", "--for", "failed", "--timeout", "1s", code=5)
    assert "running" in result.stderr
    assert "expected one of ready, complete" in user.run("wait", "fit", "--for", "x", code=2).stderr


def test_a_state_that_will_not_come(user: User) -> None:
    user.apply(user.write("exit 3"), "--wait", "complete", code=4)
    assert "cannot become running" in user.run("wait", "fit", "--for", "running", code=4).stderr
    user.run("wait", "fit", "--for", "failed")


@pytest.mark.parametrize("command", [("status",), ("wait",), ("get", "workers")])
def test_a_name_that_is_not_there(user: User, command: tuple[str, ...]) -> None:
    user.apply(user.write("true", "word2vec"), "--wait", "complete")
    result = user.run(*command, "wordvec", code=3)
    assert "wordvec has not run on this machine" in result.stderr
    assert 'did you mean "word2vec"?' in result.stderr
    user.run("wait", "wordvec", "--for", "deleted")


def test_a_path_names_its_job(user: User) -> None:
    spec = user.write("true")
    user.apply(spec, "--wait", "complete")
    shown = user.run("status", spec, "--target", "local").stdout
    assert f"spec:       {spec}" in shown
    assert "paddlespec logs fit --target local" in shown


def test_watching_ends_with_the_job(user: User, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    user.apply(user.write(f"until [ -e {gate} ]; do sleep 0.1; done"))
    user.run("wait", "fit", "--for", "ready")
    watching = user.start("status", "fit", "--watch")
    first = watching.stdout.readline()
    assert first.startswith("job:")
    gate.touch()
    rest = watching.stdout.read()
    assert watching.wait(60) == 0
    watching.communicate()
    assert "state:      running" in rest
    assert "state:      succeeded" in rest


def on_a_terminal(user: User, *arguments: str) -> tuple[int, str]:
    """Return what a command draws on a terminal of 80 columns until it ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    command = [sys.executable, "-m", "paddlespec", *arguments]
    process = subprocess.Popen(
        command,
        env={**user.environment, "TERM": "xterm", "NO_COLOR": "1"},
        stdin=theirs,
        stdout=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while block := os.read(ours, 4096):
            shown += block
    os.close(ours)
    return process.wait(60), shown.decode()


def test_a_terminal_shows_one_picture_that_renews_itself(user: User) -> None:
    user.apply(user.write("sleep 3"))
    code, shown = on_a_terminal(user, "status", "fit", "--watch")
    assert code == 0
    assert "state:      running" in shown
    assert "state:      succeeded" in shown
    assert "\x1b[" in shown  # it moves the cursor up to redraw


def test_a_terminal_cuts_what_is_too_long_for_it(user: User) -> None:
    name = "n" * 50
    user.apply(user.write("true", name), "--wait", "complete")
    _, shown = on_a_terminal(user, "get", "jobs", "-a")
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "…" in shown
    assert name in user.run("get", "jobs", "-a").stdout


def test_watching_a_list_shows_what_changes(user: User) -> None:
    user.apply(user.write(FOREVER))
    user.run("wait", "fit", "--for", "ready")
    watching = user.start("get", "jobs", "-a", "-w")
    assert watching.stdout.readline().startswith("NAME")
    assert watching.stdout.readline().split()[2] == "running"
    user.run("kill", "fit", "--yes")
    eventually(lambda: "killed" in watching.stdout.readline())
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=60)
    assert watching.returncode == 130


def test_the_forms_for_programs_are_stable(user: User) -> None:
    user.apply(user.write("true"), "--wait", "complete")
    (job,) = data(user, "get", "jobs", "-a")["jobs"]
    assert list(job) == [
        *("namespace", "name", "target", "mode", "state", "reason", "roles", "queue"),
        *("started", "finished", "run", "user", "labels"),
    ]
    assert list(job["roles"]["trainers"]) == ["desired", "ready", "succeeded", "failed", "reason"]
    worker = data(user, "get", "workers", "fit")["workers"][0]
    assert list(worker) == [
        *("name", "role", "rank", "state", "ready", "reason", "message", "node", "address"),
        *("restarts", "started", "finished", "exitCode"),
    ]
    more = ["record", "workers", "conditions", "events", "failure", "evidence", "next"]
    assert list(data(user, "status", "fit")) == [*job, *more]


def test_words_of_the_older_clients(user: User) -> None:
    for command in ("list", "jobs"):
        assert "hint: paddlespec get jobs" in user.run(command, code=2).stderr
