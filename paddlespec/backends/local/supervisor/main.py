"""
The supervisor of one run: `python -m paddlespec.backends.local.supervisor.main RUN_FOLDER`.

Two processes: a guard, and the supervisor below it. If the supervisor is killed, the guard kills
everything it started. The lock on the run is held until both have ended.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys

from paddlespec.backends.local.machine import podman, process_tree
from paddlespec.backends.local.store import run_state
from paddlespec.backends.local.store.launch import parse
from paddlespec.backends.local.store.run_state import now
from paddlespec.backends.local.supervisor.supervision import Supervision

_IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


def main() -> int:
    """Guard one run until all its processes have ended."""
    parser = argparse.ArgumentParser(prog="paddlespec.backends.local.supervisor.main")
    parser.add_argument("folder")
    parser.add_argument("--lock", type=int, required=True)
    parser.add_argument("--ready", type=int, required=True)
    parser.add_argument("--leash", type=int)
    parser.add_argument("--launch", type=int)
    given = parser.parse_args()
    for fd in (given.lock, given.ready, given.leash, given.launch):
        if fd is not None:
            os.set_inheritable(fd, False)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    process_tree.adopt_orphans()
    read, write = os.pipe()
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        process_tree.adopt_orphans()
        _supervise(given.folder, write, given, guard)
    os.close(write)
    for fd in (given.ready, given.leash, given.launch):
        if fd is not None:
            os.close(fd)
    return _guard(given.folder, pid, read)


def _supervise(folder: str, record: int, given: argparse.Namespace, guard: int) -> None:
    code = 1
    try:
        # The file lacks the values of secrets.
        written = os.path.join(folder, "launch.json")
        source = written if given.launch is None else given.launch
        with open(source, encoding="utf-8") as file:
            launch = parse(file.read())
        Supervision(folder, launch, record, given.leash, guard).run(given.ready)
        code = 0
    except Exception:  # noqa: BLE001 - supervisor.log keeps the reason
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        process_tree.kill_descendants()
        os._exit(code)


def _guard(folder: str, supervisor: int, read: int) -> int:
    """Wait until the supervisor ends, then kill what it leaves behind."""
    records = _until_closed(read)
    _, code = os.waitpid(supervisor, 0)
    clean = os.WIFEXITED(code) and os.WEXITSTATUS(code) == 0
    if not process_tree.IS_LINUX and not clean:
        for leader in records:
            process_tree.signal_group(leader, signal.SIGKILL)
    process_tree.kill_descendants()
    _remove_containers(folder)
    last = run_state.last(folder)
    if last is not None and not last.phase.is_over:
        lost = last._replace(
            phase=run_state.Phase.lost, message="the supervisor was killed", finished=now()
        )
        run_state.write(folder, lost)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, run_state.RESERVE))
    return 0


def _remove_containers(folder: str) -> None:
    """Remove what podman still knows of the run."""
    with contextlib.suppress(OSError, ValueError):
        with open(os.path.join(folder, "launch.json"), encoding="utf-8") as file:
            launch = parse(file.read())
        podman.remove(launch)


def _until_closed(read: int) -> list[int]:
    """Return the process groups that were started, once no more can be started."""
    text = b""
    while chunk := os.read(read, 65536):
        text += chunk
    return [int(leader) for leader in text.split()]


if __name__ == "__main__":
    sys.exit(main())
