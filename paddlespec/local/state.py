"""
How far a run is, as its supervisor wrote it down last; anyone may read it at any time.

The file is replaced as a whole. Whether the supervisor still lives is told by the lock that it
holds, not by what it wrote: without one, a run that is not over is lost.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "state.json"
RESERVE = "state.reserve"


class Phase(str, Enum):
    """How far a run is as a whole."""

    running = "running"
    stopping = "stopping"
    succeeded = "succeeded"
    failed = "failed"
    killed = "killed"
    lost = "lost"

    @property
    def is_over(self) -> bool:
        return self not in (Phase.running, Phase.stopping)


class Step(str, Enum):
    """How far one replica is."""

    waiting = "waiting"  # for addresses of others
    running = "running"
    ended = "ended"


class Replica(NamedTuple):
    """One replica; `ready`: it runs, and what others wait for accepts. `code` as in a shell."""

    name: str
    role: str
    replica: int
    step: Step = Step.waiting
    ready: bool = False
    pid: int | None = None
    code: int | None = None
    why: str | None = None  # it ended, where the code does not say it
    attempt: int = 1
    started: str | None = None
    finished: str | None = None


class Culprit(NamedTuple):
    """What made a run fail: the replica, how it ended, and what it wrote last."""

    name: str
    ending: str
    lines: tuple[str, ...] = ()


class Status(NamedTuple):
    """A run; `lost` counts the bytes of output that no log took, by replica."""

    job: str
    uid: str
    phase: Phase
    replicas: tuple[Replica, ...] = ()
    attempt: int = 1
    attempts: int = 1
    started: str | None = None
    finished: str | None = None
    message: str | None = None
    culprit: Culprit | None = None
    lost: Mapping[str, int] = {}
    pid: int | None = None
    boot: str = ""
    host: str = ""


def dump(status: Status) -> str:
    """*status* as text."""
    data = status._asdict()
    data["replicas"] = [each._asdict() for each in status.replicas]
    data["culprit"] = status.culprit._asdict() if status.culprit else None
    return json.dumps(data, ensure_ascii=False)


def parse(text: str) -> Status:
    """What `dump` wrote; raises `ValueError` for anything else."""
    try:
        data: dict[str, Any] = json.loads(text)
        replicas = tuple(
            Replica(**{**each, "step": Step(each["step"])}) for each in data.pop("replicas")
        )
        culprit = data.pop("culprit")
        if culprit is not None:
            culprit = Culprit(**{**culprit, "lines": tuple(culprit["lines"])})
        phase = Phase(data.pop("phase"))
        return Status(**data, phase=phase, replicas=replicas, culprit=culprit)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError("not the state of a run") from error


def write(folder: str, status: Status) -> bool:
    """Replace the state of the run in *folder*; whether the disk took it."""
    text = dump(status)
    try:
        _replace(folder, text)
    except OSError:
        pass
    else:
        return True
    # A little room was set apart, so that a full disk does not hide how a run ended.
    try:
        os.unlink(os.path.join(folder, RESERVE))
        _replace(folder, text)
    except OSError:
        return False
    return True


def reserve(folder: str, size: int) -> None:
    """Set room apart for states that are written when the disk is full."""
    try:
        with open(os.path.join(folder, RESERVE), "wb") as file:
            file.write(b"\0" * size)
    except OSError:
        return


def read(folder: str) -> Status | None:
    """
    What is known of the run in *folder*; nothing when it never began.

    A run whose supervisor is gone is lost.
    """
    alive = is_alive(folder)  # first: it may end in between
    status = last(folder)
    if status is None or status.phase.is_over:
        return status
    if alive and (status.boot == boot() or status.host != socket.gethostname()):
        return status
    restarted = status.boot != boot() and status.host == socket.gethostname()
    message = "this machine was started anew" if restarted else "its supervisor is gone"
    return status._replace(phase=Phase.lost, message=message)


def last(folder: str) -> Status | None:
    """What was written last, whoever lives."""
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, ValueError):
        return None


def is_alive(folder: str) -> bool:
    """Whether a supervisor, or the guard that cleans up after it, is at work in *folder*."""
    import fcntl

    try:
        fd = os.open(lock_file(folder), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def lock_file(folder: str) -> str:
    """What the supervisor holds as long as anything of its run is left."""
    return os.path.join(folder, "supervisor.lock")


def boot() -> str:
    """What tells this start of the machine from another one, where the system says it."""
    if sys.platform != "linux":
        return ""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _replace(folder: str, text: str) -> None:
    path = os.path.join(folder, FILE)
    new = f"{path}.new"
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(new, path)
