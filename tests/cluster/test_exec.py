"""`exec` on a real control plane, whose fake kubelet runs commands beside itself."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from user import COMMAND, User

if TYPE_CHECKING:
    from control_plane import ControlPlane


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    admin = User.admin(control_plane, namespace, tmp_path)
    admin.run("apply", admin.ps(run_for="1h"), "--wait", "ready")
    return admin


def piped(user: User, data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, "exec", "fit", *arguments]
    return subprocess.run(
        command, input=data, env=user.environment, capture_output=True, timeout=60, check=False
    )


def test_a_command_in_a_replica(user: User) -> None:
    done = user.run("exec", "fit", "--", "sh", "-c", "echo out; echo err >&2; exit 7", code=7)
    assert done.stdout == "out\n"
    assert done.stderr == "err\n"
    data = os.urandom(300_000)
    back = piped(user, data, "--role", "pservers", "--index", "1", "--", "head", "-c300000")
    assert back.stdout == data
    assert (back.returncode, back.stderr) == (0, b"")


def test_a_terminal_is_passed_on(user: User) -> None:
    ours, theirs = pty.openpty()
    # The fake kubelet may drop what a terminal printed just before its end.
    program = "test -t 0 && read x && echo got-$x && sleep 1 && exit 5"
    process = subprocess.Popen(
        [*COMMAND, "exec", "fit", "--", "sh", "-c", program],
        env=user.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.write(ours, b"word\r")
    try:
        _, err = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
    assert (process.returncode, err) == (5, b"")
    shown = b""
    while b"got-word" not in shown and select.select([ours], [], [], 10)[0]:
        shown += os.read(ours, 10_000)
    assert b"got-word" in shown
    os.close(ours)
    os.close(theirs)


def test_what_cannot_be_run_is_said(user: User) -> None:
    message = user.run("exec", "fit", "--", "no-such-program", code=3).stderr
    assert "cannot run no-such-program in fit-trainer-0-" in message
    message = user.run("exec", "fit", "--index", "7", "--", "true", code=3).stderr
    assert "no trainer 7 of fit is running: fit is running" in message
    assert "no command given" in user.run("exec", "fit", code=2).stderr
    pods = [{"apiGroups": [""], "resources": ["pods", "configmaps"], "verbs": ["get", "list"]}]
    jobs = [
        {"apiGroups": ["batch", "apps"], "resources": ["jobs", "statefulsets"], "verbs": ["list"]}
    ]
    user.plane.allow("reader", user.namespace, [*pods, *jobs])
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    assert "you may not" in reader.run("exec", "fit", "--", "true", code=3).stderr


def test_the_log_of_a_rank_is_read_in_its_running_container(user: User) -> None:
    """The fake kubelet has one folder for the launchers of all pods."""
    folder = user.run("exec", "fit", "--", "pwd").stdout.strip()
    rows = [f"line {number}\n" for number in range(2000)]
    log = Path(folder) / "workerlog.41"
    log.write_text("".join(rows), encoding="utf-8")
    asked = ["logs", "fit", "--role", "trainers", "--index", "0", "--rank"]
    assert user.run(*asked, "41").stdout == "".join(rows)
    assert user.run(*asked, "41", "-n", "2").stdout == "line 1998\nline 1999\n"
    assert user.run(*asked, "41", "--grep", "line 77$").stdout == "line 77\n"
    message = user.run(*asked, "42", code=3).stderr
    assert "has no log of rank 42" in message
    assert "to keep it, set `logs` to a folder on a volume" in message
