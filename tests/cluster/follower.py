"""A reader of a job's logs, and the output of its containers."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane
    from forked import Process
    from user import User

PODS = ("trainer-0", "trainer-1", "pserver-0", "pserver-1")
WROTE = ("reading the data", "pass 0, loss 0.5", "a warning", "done")
PARALLEL = ("-u", "mode=parallel", "-u", "pservers-")


class Log:
    """The output of every container of the fake kubelet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = path.read_text()

    def write(self, *texts: str) -> None:
        moment = datetime.now(timezone.utc)
        with self._path.open("a") as file:
            for text in texts:
                file.write(f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z stdout F {text}\n")

    def restore(self) -> None:
        self._path.write_text(self._before)


@contextmanager
def logging(plane: ControlPlane) -> Iterator[Log]:
    """The output of every container, restored afterwards."""
    log = Log(plane.log_file)
    try:
        yield log
    finally:
        log.restore()


class Follower:
    """A running `logs -f` whose output is watched."""

    def __init__(self, user: User, *arguments: str) -> None:
        self.lines: list[str] = []
        self._process = user.start("logs", "fit", "-f", *arguments)
        self._thread = threading.Thread(target=self._read, args=(self._process,))
        self._thread.start()
        self._user = user

    def _read(self, process: Process) -> None:
        while line := process.stdout.readline():
            self.lines.append(line)

    def until(self, shown: Callable[[list[str]], bool]) -> None:
        self._user.plane.eventually(lambda: shown(self.lines), within=60, what=str(self.lines))

    def end(self) -> str:
        """Wait for its end, and return what it reported on stderr."""
        self._thread.join(60)
        _, errors = self._process.communicate(timeout=10)
        assert self._process.returncode == 0, errors
        assert "Traceback" not in errors
        return errors

    def texts(self) -> Counter[tuple[str, ...]]:
        return Counter(tuple(line.rstrip("\n").split(" | ", 1)) for line in self.lines)


def running(user: User, *updates: str, **marks: str) -> None:
    user.run("apply", user.ps(**{"run_for": "1h", **marks}), *updates, "--wait", "ready")


def kill(user: User) -> None:
    user.run("kill", "fit", "--yes")


def rows(text: str) -> list[list[str]]:
    return [line.split(" | ", 1) for line in text.splitlines()]


def once(texts: tuple[str, ...] | list[str], pods: tuple[str, ...] = PODS) -> Counter[object]:
    return Counter((f"{pod:<9}", text) for pod in pods for text in texts)
