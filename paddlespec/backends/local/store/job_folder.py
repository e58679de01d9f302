"""
The folders of jobs on this machine: one per job, and in it one per run.

    <state>/paddlespec/local/<namespace>/<job>/runs.json, spec-<number>.yaml
                                              /runs/<number>/launch.json, state.json, logs/, code/

The supervisor of a run is the authority on its state; every reader brings the history up to date.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
from calendar import timegm
from typing import TYPE_CHECKING, Any

from paddlespec.answers import parsed
from paddlespec.backends.local.store import launch, run_state
from paddlespec.backends.local.store.run_state import Phase
from paddlespec.diagnostic import did_you_mean
from paddlespec.render import shape
from paddlespec.runs.failures import NotFound, OperationFailed
from paddlespec.runs.history import (
    History,
    State,
    decode,
    encode,
)
from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from paddlespec.backends.local.store.run_state import Status
    from paddlespec.runs.history import RunRecord

DEFAULT_NAMESPACE = "default"
_GONE = "deleted"
# The syntax of Kubernetes names; both names become folders.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_ENDS = {
    Phase.succeeded: State.succeeded,
    Phase.failed: State.failed,
    Phase.killed: State.killed,
    Phase.lost: State.lost,
}


def root(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder of all jobs that ran here."""
    return os.path.join(user_dir("state", environment), "local")


def jobs(environment: Mapping[str, str] = os.environ) -> list[JobFolder]:
    """List every job that this machine knows."""
    top = root(environment)
    folders = [
        JobFolder(space, name, environment)
        for space in _names(top)
        for name in _names(os.path.join(top, space))
        if _NAME.fullmatch(space) and _NAME.fullmatch(name)
    ]
    return [folder for folder in folders if folder.exists]


def known_job(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> JobFolder:
    """Return the folder of a job that ran here; raise `NotFound` with a similar name."""
    folder = JobFolder(namespace, name, environment)
    if not folder.exists:
        known = sorted(other.name for other in jobs(environment) if other.namespace == namespace)
        raise NotFound(
            f"{name} has not run on this machine in namespace {namespace}",
            did_you_mean(name, known),
        )
    return folder


class JobFolder:
    """The folder of one job."""

    def __init__(
        self, namespace: str, name: str, environment: Mapping[str, str] = os.environ
    ) -> None:
        for word, given in (("namespace", namespace), ("job", name)):
            if not _NAME.fullmatch(given):
                raise OperationFailed(f"invalid {word} name {json.dumps(given)}")
        self.namespace, self.name = namespace, name
        self.path = os.path.join(root(environment), namespace, name)

    @property
    def exists(self) -> bool:
        """Whether the job has a history and is not deleted."""
        return os.path.exists(os.path.join(self.path, "runs.json")) and not self._is_deleted()

    def run(self, number: int) -> str:
        """Return the folder of one run."""
        return os.path.join(self.path, "runs", str(number))

    def status(self, number: int) -> Status | None:
        """Return the state of a run; None if it never started, or its folder was deleted."""
        return run_state.read(self.run(number))

    def history(self) -> History:
        """Return the runs as known now, with their ends."""
        return self._settled(self._written())

    def change(self, change: Callable[[History], History]) -> History:
        """Apply *change* to the history and write it; needs the lock."""
        history = change(self.history())
        texts = encode(history)
        try:
            for name, text in texts.items():
                _replace(os.path.join(self.path, name), text)
            for name in _names(self.path):
                if name.startswith("spec-") and name not in texts:
                    os.unlink(os.path.join(self.path, name))
        except OSError as error:
            raise _unwritable(self.path, error) from None
        return history

    def manifests(self, number: int) -> list[dict[str, Any]]:
        """Return the manifests of a run."""
        try:
            with open(os.path.join(self.run(number), "manifests.json"), encoding="utf-8") as file:
                manifests = parsed(file.read())
        except (OSError, ValueError):
            return []
        is_valid = isinstance(manifests, list) and all(map(shape.is_manifest, manifests))
        return manifests if is_valid else []

    def launch(self, number: int) -> launch.Launch | None:
        """Return the launch of a run."""
        try:
            with open(os.path.join(self.run(number), "launch.json"), encoding="utf-8") as file:
                return launch.parse(file.read())
        except (OSError, ValueError):
            return None

    @contextlib.contextmanager
    def locked(self, pause: Callable[[], None]) -> Iterator[None]:
        """Keep other commands from changing this job; call *pause* while one holds the lock."""
        path = os.path.join(self.path, "lock")
        try:
            for folder in (self.path, os.path.join(self.path, "runs")):
                os.makedirs(folder, mode=0o700, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        try:
            while not _locks(fd):
                pause()
            if not _is_same(fd, path):  # the folder was deleted meanwhile
                os.close(fd)
                fd = -1
                with self.locked(pause):
                    yield
                return
            self._clear_deleted()
            yield
        finally:
            if fd >= 0:
                os.close(fd)

    def alive(self) -> list[int]:
        """Return the runs that still have processes."""
        runs = os.path.join(self.path, "runs")
        numbers = sorted(int(number) for number in _names(runs) if number.isdecimal())
        return [number for number in numbers if run_state.is_alive(self.run(number))]

    def clean(self) -> int:
        """
        Kill the processes of runs that lost both supervisor and guard; return how many there were.

        They are recognized by PATH, which begins with the folder of their run; containers by name.
        """
        from paddlespec.backends.local.machine import podman
        from paddlespec.backends.local.machine.process_tree import kill_marked

        runs = os.path.join(self.path, "runs")
        numbers = [int(number) for number in _names(runs) if number.isdecimal()]
        ends = [self.status(number) for number in numbers]
        lost = [
            number
            for number, status in zip(numbers, ends)
            if status is not None and status.phase is Phase.lost
        ]
        launches = [started for number in lost if (started := self.launch(number))]
        containers = sum(podman.remove(started) for started in launches)
        marks = [os.path.join(self.run(number), "bin") + os.sep for number in lost]
        return containers + sum(map(kill_marked, marks))

    def mark_deleted(self) -> None:
        """Mark the job as deleted; its files are deleted once none of its processes runs."""
        with contextlib.suppress(OSError):
            _replace(os.path.join(self.path, _GONE), "")

    def is_going(self) -> bool:
        """Report whether the job is deleted but still has processes."""
        return self._is_deleted() and bool(self.alive())

    def remove_if_empty(self) -> None:
        """Delete the folder of a job without runs; needs the lock."""
        if not os.path.exists(os.path.join(self.path, "runs.json")) and not self.alive():
            shutil.rmtree(self.path, ignore_errors=True)

    def forget_old_runs(self) -> None:
        """Remove the folders of runs that are no longer kept, except the latest."""
        history = self._written()
        for run in history.runs[:-1]:
            if not run.is_over or run.finished is None or run_state.is_alive(self.run(run.number)):
                continue
            started = self.launch(run.number)
            keep = started.keep if started else None
            if keep is not None and time.time() - seconds(run.finished) > keep:
                shutil.rmtree(self.run(run.number), ignore_errors=True)

    def _written(self) -> History:
        texts = {}
        for name in _names(self.path):
            if name == "runs.json" or name.startswith("spec-"):
                with (
                    contextlib.suppress(OSError),
                    open(os.path.join(self.path, name), encoding="utf-8", errors="replace") as file,
                ):
                    texts[name] = file.read()
        try:
            return decode(texts)
        except ValueError:
            raise OperationFailed(
                f"cannot read the history of {self.name}: {os.path.join(self.path, 'runs.json')}",
                f"delete the job: paddlespec delete {self.name} --target local",
            ) from None

    def _settled(self, history: History) -> History:
        latest = history.latest
        if latest is None or latest.is_over:
            return history
        status = self.status(latest.number)
        if status is None:
            return history if latest.uid is None else self._ended(history, latest, None)
        history = history.begin(status.uid, status.started or "")
        return self._ended(history, latest._replace(uid=status.uid), status)

    def _ended(self, history: History, run: RunRecord, status: Status | None) -> History:
        """Return *history* with the end of *run*; a run whose folder no longer exists is lost."""
        assert run.uid is not None
        if status is None:
            return history.end(run.uid, State.lost, None)
        end = _ENDS.get(status.phase)
        return history.end(run.uid, end, status.finished) if end else history

    def _is_deleted(self) -> bool:
        return os.path.exists(os.path.join(self.path, _GONE))

    def _clear_deleted(self) -> None:
        """Delete the files of a deleted job, except the lock, which is held."""
        if not self._is_deleted() or self.alive():
            return
        names = sorted(_names(self.path), key=lambda name: name == _GONE)  # the mark goes last
        for name in names:
            path = os.path.join(self.path, name)
            if name == "lock":
                continue
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(path)
        os.makedirs(os.path.join(self.path, "runs"), mode=0o700, exist_ok=True)


def private(path: str, text: str) -> None:
    """Write a file that only its owner may read."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)


def _locks(fd: int) -> bool:
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_same(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except OSError:
        return False


def _replace(path: str, text: str) -> None:
    private(f"{path}.new", text)
    os.replace(f"{path}.new", path)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _unwritable(path: str, error: OSError) -> OperationFailed:
    return OperationFailed(
        f"cannot write to {path}: {(error.strerror or '').lower()}",
        "set XDG_STATE_HOME to a folder you can write to",
    )


def seconds(moment: str) -> float:
    """Parse a recorded time; one that cannot be read is now, so that nothing is old."""
    try:
        return timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return time.time()
