"""
The processes below this one: find, measure and kill them.

On Linux none can escape: a subreaper becomes the parent of orphaned descendants, even of those that
started their own session. Other systems have only process groups.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PAUSE = 0.01
_SUBREAPER, _DEATH_SIGNAL = 36, 1
IS_LINUX = sys.platform == "linux"


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants."""
    _prctl(_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Have this process killed when *parent*, which started it, ends."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(137)


def descendants(root: int) -> list[int]:
    """Return everything below *root*, parents first."""
    return [process.pid for process in _below(root, _children())]


def kill_descendants(seconds: float = 60.0) -> None:
    """Kill and reap everything below this process until nothing is left, or time runs out."""
    for _ in range(int(seconds / _PAUSE)):
        for pid in descendants(os.getpid()):
            kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE)


def kill_marked(text: str, seconds: float = 10.0) -> int:
    """
    Kill every process that has *text* in its environment; return how many there were.

    Orphans keep the variables they were started with.
    """
    killed: set[int] = set()
    limit = time.monotonic() + seconds
    while (left := _marked(text)) and time.monotonic() < limit:
        killed |= left
        for pid in left:
            kill(pid)
        time.sleep(_PAUSE)
    return len(killed)


def kill(pid: int) -> None:
    """Kill a process, if it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def signal_group(leader: int, number: int) -> None:
    """Send a signal to a process group, if it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def memory(roots: Iterable[int]) -> dict[int, int]:
    """Return the bytes used by *roots* and their descendants; shared memory counts repeatedly."""
    children = _children()
    return {root: sum(map(_resident, _tree(root, children))) for root in roots}


def unshared_memory(root: int) -> int:
    """Return the same with shared memory counted once; slow."""
    return sum(map(_proportional, _tree(root, _children())))


def cpu_seconds(roots: Iterable[int]) -> float | None:
    """Return the CPU time of *roots* and their descendants; None if none of them exists."""
    children = _children()
    used = [
        sum(times[:4])  # user and system time, its own and that of ended children
        for root in roots
        for process in _tree(root, children)
        if (times := _cpu_times(process))
    ]
    return sum(used) if used else None


def _children() -> dict[int, list[psutil.Process]]:
    """Return all processes, keyed by their parent."""
    children: dict[int, list[psutil.Process]] = {}
    for process in psutil.process_iter(["ppid"]):
        children.setdefault(process.info["ppid"], []).append(process)
    return children


def _below(root: int, children: dict[int, list[psutil.Process]]) -> list[psutil.Process]:
    below: list[psutil.Process] = []
    pending = [root]
    while pending:
        own = children.get(pending.pop(), [])
        below += own
        pending += [process.pid for process in own]
    return below


def _tree(root: int, children: dict[int, list[psutil.Process]]) -> Iterator[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        yield psutil.Process(root)
    yield from _below(root, children)


def _marked(text: str) -> set[int]:
    return {
        process.pid
        for process in psutil.process_iter(["environ"])
        if process.pid != os.getpid()
        # Processes of other users are not visible.
        and any(text in value for value in (process.info["environ"] or {}).values())
    }


def _cpu_times(process: psutil.Process) -> tuple[float, ...]:
    try:
        return process.cpu_times()
    except psutil.Error:
        return ()


# Memory without mapped files, which the kernel reclaims before a container runs out of memory.
# psutil does not distinguish them.


def _resident(process: psutil.Process) -> int:
    if IS_LINUX:
        sizes = _sizes(f"/proc/{process.pid}/status")
        return sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0)
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _proportional(process: psutil.Process) -> int:
    sizes = _sizes(f"/proc/{process.pid}/smaps_rollup") if IS_LINUX else {}
    if "Pss_Anon" in sizes:
        return sizes["Pss_Anon"] + sizes.get("Pss_Shmem", 0)
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return _resident(process)


def _sizes(path: str) -> dict[str, int]:
    """Return the sizes in a file of the kernel, in bytes; empty if its process no longer exists."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            rows = [line.replace(":", " ").split() for line in file]
    except OSError:
        return {}
    return {row[0]: int(row[1]) * 1024 for row in rows if len(row) == 3 and row[2] == "kB"}


def _prctl(option: int, value: int) -> None:
    if not IS_LINUX:
        return
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
