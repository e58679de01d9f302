"""
The state of a run, as last written by its supervisor; any command may read it at any time.

The file is always replaced as a whole. A running supervisor holds a lock: a run that has not ended
but whose lock is free is lost.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.render.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "state.json"
RESERVE = "state.reserve"
# Why a replica ended that was stopped with its run.
STOPPED = "stopped"


class Phase(str, Enum):
    """The state of a run as a whole."""

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
    """The state of a replica."""

    waiting = "waiting"  # for addresses of others
    running = "running"
    ended = "ended"


class Replica(NamedTuple):
    """One replica; `ready`: the addresses that others wait for accept. `code` as in a shell."""

    name: str
    role: str
    replica: int
    step: Step = Step.waiting
    ready: bool = False
    pid: int | None = None
    code: int | None = None
    why: str | None = None  # it ended, unless `code` says it
    attempt: int = 1
    started: str | None = None
    finished: str | None = None


class Culprit(NamedTuple):
    """The replica that made a run fail, how it ended, and its last lines."""

    name: str
    ending: str
    lines: tuple[str, ...] = ()


class Status(NamedTuple):
    """A run; `lost` counts bytes of output that could not be logged, by replica."""

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


_TEXT, _INT = {"type": "string"}, {"type": "integer", "maximum": 2**63}
_MAYBE_TEXT = {"type": ["string", "null"]}
_MAYBE_INT = {"type": ["integer", "null"], "maximum": 2**63}
_REPLICA = {
    "type": "object",
    "required": ["name", "role", "replica", "step"],
    "properties": {
        **dict.fromkeys(("name", "role", "step"), _TEXT),
        **dict.fromkeys(("replica", "attempt"), _INT),
        **dict.fromkeys(("pid", "code"), _MAYBE_INT),
        **dict.fromkeys(("why", "started", "finished"), _MAYBE_TEXT),
        "ready": {"type": "boolean"},
    },
}
_CULPRIT = {
    "type": ["object", "null"],
    "required": ["name", "ending", "lines"],
    "properties": {"name": _TEXT, "ending": _TEXT, "lines": {"type": "array", "items": _TEXT}},
}
_SHAPE = Shape(
    {
        "type": "object",
        "required": ["job", "uid", "phase", "replicas", "culprit"],
        "properties": {
            **dict.fromkeys(("job", "uid", "phase", "boot", "host"), _TEXT),
            **dict.fromkeys(("attempt", "attempts"), _INT),
            **dict.fromkeys(("started", "finished", "message"), _MAYBE_TEXT),
            "pid": _MAYBE_INT,
            "replicas": {"type": "array", "items": _REPLICA},
            "culprit": _CULPRIT,
            "lost": {"type": "object", "additionalProperties": _INT},
        },
    }
)


def dump(status: Status) -> str:
    """Return *status* as text."""
    data = status._asdict()
    data["replicas"] = [replica._asdict() for replica in status.replicas]
    data["culprit"] = status.culprit._asdict() if status.culprit else None
    return json.dumps(data, ensure_ascii=False)


def parse(text: str) -> Status:
    """Return the status that `dump` wrote; raise `ValueError` for other text."""
    try:
        data: dict[str, Any] = _SHAPE.read(text)
        replicas = tuple(
            Replica(**{**replica, "step": Step(replica["step"])})
            for replica in data.pop("replicas")
        )
        culprit = data.pop("culprit")
        if culprit is not None:
            culprit = Culprit(**{**culprit, "lines": tuple(culprit["lines"])})
        phase = Phase(data.pop("phase"))
        return Status(**data, phase=phase, replicas=replicas, culprit=culprit)
    except (TypeError, ValueError) as error:
        raise ValueError("not the state of a run") from error


def write(folder: str, status: Status) -> bool:
    """Replace the state of the run in *folder*; return whether that succeeded."""
    text = dump(status)
    try:
        _replace(folder, text)
    except OSError:
        pass
    else:
        return True
    # The reserve lets a full disk still record how a run ended.
    try:
        os.unlink(os.path.join(folder, RESERVE))
        _replace(folder, text)
    except OSError:
        return False
    return True


def reserve(folder: str, size: int) -> None:
    """Reserve disk space for the state, in case the disk is full later."""
    try:
        with open(os.path.join(folder, RESERVE), "wb") as file:
            file.write(b"\0" * size)
    except OSError:
        return


def read(folder: str) -> Status | None:
    """
    Return the state of the run in *folder*; None if it never started.

    A run whose supervisor died before it ended is lost.
    """
    alive = is_alive(folder)  # checked first, because the run may end in between
    status = last(folder)
    if status is None or status.phase.is_over:
        return status
    if alive and (status.boot == boot() or status.host != socket.gethostname()):
        return status
    restarted = status.boot != boot() and status.host == socket.gethostname()
    message = "the machine was restarted" if restarted else "the supervisor is no longer running"
    return status._replace(phase=Phase.lost, message=message)


def last(folder: str) -> Status | None:
    """Return the state that was last written."""
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, ValueError):
        return None


def is_alive(folder: str) -> bool:
    """Report whether a supervisor, or the guard that cleans up after it, runs in *folder*."""
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
    """Return the path of the lock that the supervisor holds until no process of its run is left."""
    return os.path.join(folder, "supervisor.lock")


def boot() -> str:
    """Return the identity of this boot of the machine, if the system has one."""
    if sys.platform != "linux":
        return ""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def now() -> str:
    """Return the current time in UTC, in the format of states."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _replace(folder: str, text: str) -> None:
    path = os.path.join(folder, FILE)
    new = f"{path}.new"
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(new, path)
