"""
Start a supervisor, which holds the lock on its run until nothing of the run is left.

The lock is taken here and passed on, so a starting run never looks dead. A command that is killed
meanwhile leaves either an intent or a run that continues.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from paddlespec.backends.local.store import run_state
from paddlespec.backends.local.store.job_folder import private
from paddlespec.backends.local.store.launch import dump, public
from paddlespec.bundled import PACKAGE
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from paddlespec.backends.local.store.launch import Launch
    from paddlespec.backends.local.store.run_state import Status

_LOG = "supervisor.log"


def hold(folder: str) -> int:
    """Take the lock on a run that is about to start."""
    import fcntl

    fd = os.open(run_state.lock_file(folder), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)  # other processes only test whether it is held
    return fd


def start(folder: str, launch: Launch, lock: int, *, attached: bool) -> int | None:
    """
    Start the supervisor of *launch*; raise `OperationFailed` if it cannot run the job.

    An *attached* run ends with this process unless it is released; its leash is returned.
    """
    import subprocess

    private(os.path.join(folder, "launch.json"), dump(public(launch)))
    ready, started = os.pipe()
    given, give = os.pipe()
    leash = os.pipe() if attached else None
    command = [sys.executable, "-m", "paddlespec.backends.local.supervisor.main", folder]
    command += ["--lock", str(lock), "--ready", str(started), "--launch", str(given)]
    passed = [lock, started, given]
    if leash:
        command += ["--leash", str(leash[0])]
        passed.append(leash[0])
    log = os.open(os.path.join(folder, _LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # Modules in the user's folder must not shadow the supervisor's.
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
        raise OperationFailed(f"cannot start the supervisor: {error.strerror}") from None
    finally:
        for fd in (log, started, given, *(leash[:1] if leash else ())):
            os.close(fd)
    with contextlib.suppress(BrokenPipeError), os.fdopen(give, "w", encoding="utf-8") as pipe:
        pipe.write(dump(launch))
    answer = _answer(ready)
    # It outlives this command and is then reaped by init.
    process.returncode = 0
    if answer == "ok":
        return leash[1] if leash else None
    if leash:
        os.close(leash[1])
    if answer:
        listens = "cannot listen" in answer
        hint = "stop the process that listens there, or wait until it ends" if listens else None
        raise OperationFailed(answer, hint)
    raise OperationFailed("the supervisor ended immediately", f"see {os.path.join(folder, _LOG)}")


def stop(status: Status) -> None:
    """Ask the supervisor to end its run, unless it has ended."""
    if status.pid is not None and not status.phase.is_over:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(status.pid, signal.SIGTERM)


def _environment() -> dict[str, str]:
    """Return the variables of the supervisor, which must import this copy of the package."""
    top = os.path.dirname(PACKAGE)
    if top in sys.path[1:]:
        return dict(os.environ)
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([top, *([known] if known else [])])}


def _answer(ready: int) -> str:
    answer = b""
    while chunk := os.read(ready, 4096):
        answer += chunk
    os.close(ready)
    return answer.decode(errors="replace")
