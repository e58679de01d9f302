"""
Starting a supervisor: it holds the lock on its run from before it exists until nothing is left.

The lock is taken here and handed on, so that there is no moment at which a run could be taken for
dead; a command that dies in between leaves an intent, or a run that goes on.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.local import state
from paddlespec.local.folder import private
from paddlespec.local.launch import dump, public

if TYPE_CHECKING:
    from paddlespec.local.launch import Launch

_LOG = "supervisor.log"


def hold(folder: str) -> int:
    """Take the lock on a run that is about to begin."""
    import fcntl

    fd = os.open(state.lock_file(folder), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)  # others only look whether it is held
    return fd


def start(folder: str, launch: Launch, lock: int, *, attached: bool) -> int | None:
    """
    Start the supervisor of *launch*; raises `OperationFailed` when it could not begin.

    When *attached*, the run ends with this process unless it is released: returns the leash.
    """
    import subprocess

    private(os.path.join(folder, "launch.json"), dump(public(launch)))
    ready, tell = os.pipe()
    given, give = os.pipe()
    leash = os.pipe() if attached else None
    command = [sys.executable, "-m", "paddlespec.local.supervisor", folder]
    command += ["--lock", str(lock), "--ready", str(tell), "--launch", str(given)]
    passed = [lock, tell, given]
    if leash:
        command += ["--leash", str(leash[0])]
        passed.append(leash[0])
    log = os.open(os.path.join(folder, _LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # Its working folder is no place for modules: what lies in the user's shadows nothing.
        process = subprocess.Popen(
            command,
            cwd="/",
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=passed,
            start_new_session=True,
        )
    except OSError as error:
        os.close(give)
        raise OperationFailed(f"cannot start a supervisor: {error.strerror}") from None
    finally:
        for each in (log, tell, given, *(leash[:1] if leash else ())):
            os.close(each)
    with contextlib.suppress(BrokenPipeError), os.fdopen(give, "w", encoding="utf-8") as pipe:
        pipe.write(dump(launch))
    answer = _answer(ready)
    # It goes on when this command has ended, and init reaps it then.
    process.returncode = 0
    if answer == "ok":
        return leash[1] if leash else None
    if leash:
        os.close(leash[1])
    if answer:
        listens = "cannot listen" in answer
        hint = "end what listens there, or wait until it has ended" if listens else None
        raise OperationFailed(answer, hint)
    raise OperationFailed("the supervisor ended at once", f"see {os.path.join(folder, _LOG)}")


def _environment() -> dict[str, str]:
    """The variables of the supervisor; it must find this very package."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if top in sys.path[1:]:
        return dict(os.environ)
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([top, *([known] if known else [])])}


def _answer(ready: int) -> str:
    found = b""
    while chunk := os.read(ready, 4096):
        found += chunk
    os.close(ready)
    return found.decode(errors="replace")
