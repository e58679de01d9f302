"""Rehearsals for tests: launches of tiny scripts, and a user with their own state folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddlespec.backends.local.store import run_state
from paddlespec.backends.local.store.launch import Launch, Process, dump

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.local.store.run_state import Status

MARK = "MARK_OF_THIS_TEST"


def eventually(check: Callable[[], Any], within: float = 30.0) -> Any:
    """Poll *check* until its result is true, and return it."""
    limit = time.monotonic() + within
    while not (result := check()):
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.05)
    return result


def marked(mark: str) -> list[int]:
    """Return the processes that have *mark* in their environment, without zombies."""
    pids = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
        except OSError:
            continue
    return pids


def kill(pid: int) -> None:
    """Kill a process that may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Rehearsal:
    """One run of shell scripts under a supervisor."""

    def __init__(self, folder: Path, limit: str = "") -> None:
        self.folder, self.limit = folder, limit
        self.mark = uuid.uuid4().hex
        self.process: subprocess.Popen[bytes] | None = None
        self.leash: int | None = None

    def script(self, name: str, text: str, **more: Any) -> Process:
        """Return a replica that runs *text*, with a name such as `trainer-0`."""
        role, _, index = name.rpartition("-")
        env = {"PATH": os.environ["PATH"], MARK: self.mark, **more.pop("env", {})}
        argv = more.pop("argv", ("sh", "-c", text))
        return Process(f"fit-{name}", f"{role}s", int(index), argv, env, "/tmp", **more)

    def start(self, *processes: Process, attached: bool = False, **more: Any) -> str:
        """Start the supervisor, and return its response."""
        self.folder.mkdir(parents=True, exist_ok=True)
        launch = Launch("fit", "uid-1", processes, **{"grace": 5.0, **more})
        (self.folder / "launch.json").write_text(dump(launch), encoding="utf-8")
        lock = os.open(run_state.lock_file(str(self.folder)), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready, started = os.pipe()
        command = [
            sys.executable,
            "-m",
            "paddlespec.backends.local.supervisor.main",
            str(self.folder),
        ]
        command += ["--lock", str(lock), "--ready", str(started)]
        passed = [lock, started]
        if attached:
            end, self.leash = os.pipe()
            passed.append(end)
            command += ["--leash", str(end)]
        if self.limit:
            command = ["sh", "-c", f'{self.limit}; exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, pass_fds=passed, start_new_session=True)
        for fd in passed:
            os.close(fd)
        answer = b""
        while chunk := os.read(ready, 4096):
            answer += chunk
        os.close(ready)
        return answer.decode()

    def end(self, within: float = 60.0) -> Status:
        """Return the state once the run is over and none of its processes is left."""
        assert self.process is not None
        self.process.wait(within)
        assert not marked(self.mark)
        return self.status

    def run(self, *processes: Process, **more: Any) -> Status:
        assert self.start(*processes, **more) == "ok"
        return self.end()

    @property
    def status(self) -> Status:
        status = run_state.read(str(self.folder))
        assert status is not None
        return status

    def running(self, count: int) -> None:
        """Wait until *count* replicas are running."""
        eventually(
            lambda: (
                sum(replica.step is run_state.Step.running for replica in self.status.replicas)
                == count
            )
        )

    def kill_supervisor(self, number: int = signal.SIGKILL) -> None:
        assert self.status.pid is not None
        os.kill(self.status.pid, number)

    def log(self, name: str) -> bytes:
        """Return the output of a replica, without the times."""
        path = self.folder / "logs" / f"fit-{name}.log"
        text = path.read_bytes() if path.exists() else b""
        return b"".join(line[31:] for line in text.splitlines(keepends=True))
