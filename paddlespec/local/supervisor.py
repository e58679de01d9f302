"""
The supervisor of one run: `python -m paddlespec.local.supervisor RUN_FOLDER`.

Two processes: a guard, and the supervisor below it. Whatever kills the supervisor, the guard then
kills all that it had started; as long as one of the two lives, the lock on the run is held.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys

from paddlespec.local import state, tree
from paddlespec.local.launch import parse
from paddlespec.local.processes import now
from paddlespec.local.supervision import Supervision

_IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


def main() -> int:
    """Guard one run until nothing of it is left."""
    parser = argparse.ArgumentParser(prog="paddlespec.local.supervisor")
    parser.add_argument("folder")
    parser.add_argument("--lock", type=int, required=True)
    parser.add_argument("--ready", type=int, required=True)
    parser.add_argument("--leash", type=int)
    parser.add_argument("--launch", type=int)
    given = parser.parse_args()
    for each in (given.lock, given.ready, given.leash, given.launch):
        if each is not None:
            os.set_inheritable(each, False)
    for each in _IGNORED:
        signal.signal(each, signal.SIG_IGN)
    tree.adopt_orphans()
    read, write = os.pipe()
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        tree.adopt_orphans()
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
    except Exception:  # noqa: BLE001 - whoever looks for the reason finds it in supervisor.log
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        tree.kill_descendants()
        os._exit(code)


def _guard(folder: str, supervisor: int, read: int) -> int:
    """Wait for the end of the supervisor; what it leaves behind goes with it."""
    records = _until_closed(read)
    _, status = os.waitpid(supervisor, 0)
    clean = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
    if not tree.IS_LINUX and not clean:
        for each in records:
            tree.signal_group(each, signal.SIGKILL)
    tree.kill_descendants()
    found = state.last(folder)
    if found is not None and not found.phase.is_over:
        lost = found._replace(
            phase=state.Phase.lost, message="its supervisor was killed", finished=now()
        )
        state.write(folder, lost)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, state.RESERVE))
    return 0


def _until_closed(read: int) -> list[int]:
    """The process groups that were started, once nobody starts any more."""
    text = b""
    while chunk := os.read(read, 65536):
        text += chunk
    return [int(each) for each in text.split()]


if __name__ == "__main__":
    sys.exit(main())
