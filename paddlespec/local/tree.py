"""
The processes below this one, as the system shows them, and how to be told of all of them.

On Linux nothing escapes: a subreaper becomes the parent of what its descendants leave behind, also
of what began a session of its own. Elsewhere there are process groups.
"""

from __future__ import annotations

import os
import signal
import sys
import time

_PAUSE = 0.01
_SUBREAPER, _DEATH_SIGNAL = 36, 1
IS_LINUX = sys.platform == "linux"


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind."""
    _prctl(_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Be killed when *parent*, which made this process, ends."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(137)


def descendants(root: int) -> list[int]:
    """Everything below *root*, parents first; empty where the system does not show it."""
    return _below(root, _children())


def kill_descendants(seconds: float = 60.0) -> None:
    """Kill and reap everything below this process until nothing is left, or time is up."""
    for _ in range(int(seconds / _PAUSE)):
        for each in descendants(os.getpid()):
            kill(each)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE)


def kill_marked(text: str, seconds: float = 10.0) -> int:
    """
    Kill every process that has *text* in its environment; how many there were.

    What nobody is left to be the parent of keeps the variables that it was started with.
    """
    found: set[int] = set()
    limit = time.monotonic() + seconds
    while (left := _marked(os.fsencode(text))) and time.monotonic() < limit:
        found |= left
        for each in left:
            kill(each)
        time.sleep(_PAUSE)
    return len(found)


def _marked(text: bytes) -> set[int]:
    found = set()
    for name in os.listdir("/proc") if IS_LINUX else ():
        try:
            if name.isdigit() and int(name) != os.getpid():
                with open(f"/proc/{name}/environ", "rb") as file:
                    if text in file.read():
                        found.add(int(name))
        except OSError:  # somebody else's, or just gone
            continue
    return found


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def signal_group(leader: int, number: int) -> None:
    """Send a signal to a process group that may be gone."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return


def memory(roots: list[int]) -> dict[int, int]:
    """The bytes that each of *roots* uses with everything below it, files apart."""
    children = _children()
    return {
        each: sum(_own_memory(one) for one in (each, *_below(each, children))) for each in roots
    }


def shared_out_memory(root: int) -> int | None:
    """The same, where what processes share is counted once: exact, and slow."""
    total = 0
    for each in [root, *descendants(root)]:
        fields = _fields(f"/proc/{each}/smaps_rollup")
        own = [fields[key] for key in ("Pss_Anon", "Pss_Shmem") if key in fields]
        if not own and fields:
            return None
        total += sum(own)
    return total


def cpu_seconds(root: int) -> float | None:
    """The time that *root* and everything below it computed so far."""
    total, seen = 0, False
    for each in [root, *descendants(root)]:
        parts = _stat(each)
        if parts:
            total += sum(int(part) for part in parts[11:15])
            seen = True
    return total / os.sysconf("SC_CLK_TCK") if seen else None


def _children() -> dict[int, list[int]]:
    """What the system shows: for each process those that it is the parent of."""
    found: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit() and (parts := _stat(int(name))):
            found.setdefault(int(parts[1]), []).append(int(name))
    return found


def _below(root: int, children: dict[int, list[int]]) -> list[int]:
    found, pending = [], [root]
    while pending:
        own = children.get(pending.pop(), [])
        found += own
        pending += own
    return found


def _stat(pid: int) -> list[bytes]:
    """The fields after the name, which may hold anything."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _own_memory(pid: int) -> int:
    fields = _fields(f"/proc/{pid}/status")
    return fields.get("RssAnon", 0) + fields.get("RssShmem", 0)


def _fields(path: str) -> dict[str, int]:
    """The fields of a file of the kernel that are sizes, in bytes."""
    found = {}
    try:
        with open(path, "rb") as file:
            for line in file:
                key, _, value = line.partition(b":")
                parts = value.split()
                if len(parts) == 2 and parts[1] == b"kB":
                    found[key.decode()] = int(parts[0]) * 1024
    except OSError:
        return {}
    return found


def _prctl(option: int, value: int) -> None:
    if not IS_LINUX:
        return
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
