"""Processes of this machine: their trees, memory and time, and which one holds a port."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from paddlespec.backends.local.machine import ports, process_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1024 * 1024
# A parent with a child in its own session, which has a child too.
FAMILY = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    os.fork()
os.write(1, f"{os.getpid()}\\n".encode())
time.sleep(60)
"""


@pytest.fixture
def python() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts Python programs, which are killed afterwards."""
    started: list[subprocess.Popen[str]] = []

    def start(program: str, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        for pid in (*process_tree.descendants(process.pid), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def said(process: subprocess.Popen[str], lines: int = 1) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().strip() for _ in range(lines)]


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_descendants_are_seen_through_sessions(
    python: Callable[..., subprocess.Popen[str]],
) -> None:
    parent = python(FAMILY)
    pids = {int(line) for line in said(parent, 3)}
    assert {parent.pid, *process_tree.descendants(parent.pid)} == pids


def test_a_process_that_is_gone_has_nothing(python: Callable[..., subprocess.Popen[str]]) -> None:
    gone = python("")
    gone.wait()
    assert process_tree.descendants(gone.pid) == []
    assert process_tree.memory([gone.pid]) == {gone.pid: 0}
    assert process_tree.unshared_memory(gone.pid) == 0
    assert process_tree.cpu_seconds([gone.pid]) is None
    process_tree.kill(gone.pid)
    process_tree.signal_group(gone.pid, signal.SIGTERM)


@pytest.mark.parametrize("linux", [process_tree.IS_LINUX, False])
def test_memory_counts_children(
    linux: bool,
    python: Callable[..., subprocess.Popen[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_tree, "IS_LINUX", linux)
    parent = python(
        "import os, time\n"
        "os.fork()\n"
        f"taken = bytearray(os.urandom({40 * MIB}))\n"
        "os.write(1, b'ready\\n')\n"
        "time.sleep(60)\n"
    )
    said(parent, 2)
    used = process_tree.memory([parent.pid])[parent.pid]
    assert 80 * MIB <= process_tree.unshared_memory(parent.pid) <= used < 200 * MIB


@pytest.mark.skipif(not process_tree.IS_LINUX, reason="only Linux tells shared memory apart")
def test_memory_that_is_shared_counts_once_and_files_do_not(
    python: Callable[..., subprocess.Popen[str]],
) -> None:
    parent = python(
        "import mmap, os, tempfile, time\n"
        f"shared = mmap.mmap(-1, {40 * MIB})\n"
        "file = tempfile.TemporaryFile(dir='.')\n"
        f"file.write(os.urandom({40 * MIB})); file.flush()\n"
        f"mapped = mmap.mmap(file.fileno(), {40 * MIB})\n"
        "os.fork()\n"
        "for page in range(0, len(shared), 4096): shared[page] = 1; mapped[page]\n"
        "os.write(1, b'ready\\n')\n"
        "time.sleep(60)\n"
    )
    said(parent, 2)
    assert process_tree.memory([parent.pid])[parent.pid] >= 80 * MIB
    assert 40 * MIB <= process_tree.unshared_memory(parent.pid) < 75 * MIB


def test_time_counts_children(python: Callable[..., subprocess.Popen[str]]) -> None:
    parent = python(
        "import os, time\n"
        "os.fork()\n"
        "while time.process_time() < 0.5: pass\n"
        "os.write(1, b'ready\\n')\n"
        "time.sleep(60)\n"
    )
    said(parent, 2)
    assert (process_tree.cpu_seconds([parent.pid]) or 0) >= 0.9


def test_orphans_are_known_by_their_environment(
    python: Callable[..., subprocess.Popen[str]],
) -> None:
    mark = f"/runs/{time.time_ns()}/bin/"
    orphan = f"import os, time\nif os.fork(): os._exit(0)\n{FAMILY}"
    pids = [int(line) for line in said(python(orphan, PATH=f"{mark}:/bin"), 3)]
    assert process_tree.kill_marked(mark) == 3
    assert not [pid for pid in pids if runs(pid)]
    assert process_tree.kill_marked(mark) == 0


def test_the_holder_of_a_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert ports.holder(port) is None, "it does not listen yet"
        server.listen()
        mine = rf"\S+.* \(process {os.getpid()}\)"
        assert re.fullmatch(mine, ports.holder(port) or "")

        def denied(_: str) -> None:
            raise psutil.AccessDenied

        monkeypatch.setattr(psutil, "net_connections", denied)
        monkeypatch.setattr(psutil, "pids", lambda: [os.getppid(), os.getpid()])
        assert re.fullmatch(mine, ports.holder(port) or ""), "as macOS shows it"
    assert ports.holder(port) is None
