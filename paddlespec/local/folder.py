"""
What this machine knows of its jobs: one folder per job, and in it one per run.

    <state>/paddlespec/local/<namespace>/<job>/runs.json, spec-<number>.yaml
                                              /runs/<number>/launch.json, state.json, logs/, code/

The supervisor of a run is the authority on it; the history is brought up to date by whoever looks.
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

from paddlespec.backend import NotFound, OperationFailed
from paddlespec.diagnostic import did_you_mean
from paddlespec.history import History, State, decode, encode
from paddlespec.local import launch, state
from paddlespec.local.state import Phase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from paddlespec.history import RunRecord
    from paddlespec.local.state import Status

DEFAULT_NAMESPACE = "default"
_GONE = "deleted"
# As Kubernetes has it; both become folders.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_ENDS = {
    Phase.succeeded: State.succeeded,
    Phase.failed: State.failed,
    Phase.killed: State.killed,
    Phase.lost: State.lost,
}


def root(environment: Mapping[str, str] = os.environ) -> str:
    """The folder of everything that ran here, by namespace and job."""
    home = environment.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(home):  # as the XDG specification says of others
        home = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "paddlespec", "local")


def jobs(environment: Mapping[str, str] = os.environ) -> list[JobFolder]:
    """Every job that this machine knows."""
    top = root(environment)
    found = [
        JobFolder(space, name, environment)
        for space in _names(top)
        for name in _names(os.path.join(top, space))
        if _NAME.fullmatch(space) and _NAME.fullmatch(name)
    ]
    return [each for each in found if each.exists]


def known_job(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> JobFolder:
    """The folder of a job that ran here; raises `NotFound`, with the name that was meant."""
    found = JobFolder(namespace, name, environment)
    if not found.exists:
        known = sorted(each.name for each in jobs(environment) if each.namespace == namespace)
        raise NotFound(
            f"{name} has not run on this machine in namespace {namespace}",
            did_you_mean(name, known),
        )
    return found


class JobFolder:
    """The folder of one job."""

    def __init__(
        self, namespace: str, name: str, environment: Mapping[str, str] = os.environ
    ) -> None:
        for word, given in (("namespace", namespace), ("job", name)):
            if not _NAME.fullmatch(given):
                raise OperationFailed(f"{given!r} is no name of a {word}")
        self.namespace, self.name = namespace, name
        self.path = os.path.join(root(environment), namespace, name)

    @property
    def exists(self) -> bool:
        """Whether anything ever ran under this name and is not deleted."""
        return os.path.exists(os.path.join(self.path, "runs.json")) and not self._is_deleted()

    def run(self, number: int) -> str:
        """The folder of one run."""
        return os.path.join(self.path, "runs", str(number))

    def status(self, number: int) -> Status | None:
        """How far a run is; nothing when it never began, or its folder is gone."""
        return state.read(self.run(number))

    def history(self) -> History:
        """The runs as they are known now, their ends included."""
        return self._settled(self._written())

    def change(self, change: Callable[[History], History]) -> History:
        """Write the history as it is known now with *change*; only under the lock."""
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
        """What a run was made of."""
        try:
            with open(os.path.join(self.run(number), "manifests.json"), encoding="utf-8") as file:
                found: list[dict[str, Any]] = json.load(file)
        except (OSError, ValueError):
            return []
        return found

    def launch(self, number: int) -> launch.Launch | None:
        """What a run was started with."""
        try:
            with open(os.path.join(self.run(number), "launch.json"), encoding="utf-8") as file:
                return launch.parse(file.read())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @contextlib.contextmanager
    def locked(self, pause: Callable[[], None]) -> Iterator[None]:
        """Keep other commands from changing this job; *pause* is called while one does."""
        path = os.path.join(self.path, "lock")
        try:
            for each in (self.path, os.path.join(self.path, "runs")):
                os.makedirs(each, mode=0o700, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        try:
            while not _locks(fd):
                pause()
            if not _is_same(fd, path):  # its folder was removed meanwhile
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
        """The runs of which something is left."""
        runs = os.path.join(self.path, "runs")
        numbers = sorted(int(each) for each in _names(runs) if each.isdecimal())
        return [each for each in numbers if state.is_alive(self.run(each))]

    def clean(self) -> int:
        """
        End what is left of runs that lost their supervisor and its guard together.

        Its processes have the folder of their run in PATH. Returns how many there were.
        """
        from paddlespec.local.tree import kill_marked

        runs = os.path.join(self.path, "runs")
        numbers = [int(each) for each in _names(runs) if each.isdecimal()]
        ends = [self.status(each) for each in numbers]
        lost = [
            number
            for number, status in zip(numbers, ends)
            if status is not None and status.phase is Phase.lost
        ]
        return sum(kill_marked(os.path.join(self.run(each), "bin") + os.sep) for each in lost)

    def mark_deleted(self) -> None:
        """Let this job be unknown from now on; what is left of it goes when nothing runs."""
        with contextlib.suppress(OSError):
            _replace(os.path.join(self.path, _GONE), "")

    def is_going(self) -> bool:
        """Whether it was deleted while something of it runs."""
        return self._is_deleted() and bool(self.alive())

    def remove_if_empty(self) -> None:
        """Remove the folder of a job that knows of no run; only under the lock."""
        if not os.path.exists(os.path.join(self.path, "runs.json")) and not self.alive():
            shutil.rmtree(self.path, ignore_errors=True)

    def forget_old_runs(self) -> None:
        """Remove the folders of runs whose time to be kept is over; the latest one's stays."""
        history = self._written()
        for each in history.runs[:-1]:
            if not each.is_over or each.finished is None or state.is_alive(self.run(each.number)):
                continue
            started = self.launch(each.number)
            keep = started.keep if started else None
            if keep is not None and time.time() - _seconds(each.finished) > keep:
                shutil.rmtree(self.run(each.number), ignore_errors=True)

    def _written(self) -> History:
        texts = {}
        for name in _names(self.path):
            if name == "runs.json" or name.startswith("spec-"):
                with (
                    contextlib.suppress(OSError),
                    open(os.path.join(self.path, name), encoding="utf-8") as file,
                ):
                    texts[name] = file.read()
        try:
            return decode(texts)
        except ValueError:
            raise OperationFailed(
                f"the history of {self.name} cannot be read: {os.path.join(self.path, 'runs.json')}",
                f"paddlespec delete {self.name} --target local",
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
        """With the end of *run*, if it is over; a run whose folder is gone is lost."""
        assert run.uid is not None
        if status is None:
            return history.end(run.uid, State.lost, None)
        end = _ENDS.get(status.phase)
        return history.end(run.uid, end, status.finished) if end else history

    def _is_deleted(self) -> bool:
        return os.path.exists(os.path.join(self.path, _GONE))

    def _clear_deleted(self) -> None:
        """Begin anew where a deleted job was; the lock, which we hold, stays."""
        if not self._is_deleted() or self.alive():
            return
        names = sorted(_names(self.path), key=lambda each: each == _GONE)  # the mark goes last
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
        "XDG_STATE_HOME names another place",
    )


def _seconds(moment: str) -> float:
    return timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ"))
