"""
Commands that are separate processes but start instantly: forks of one that has imported everything.

A thousand of them can be killed at every possible moment, and tests pay only for the requests they
make: importing everything in each process alone would take too long.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Ended(NamedTuple):
    """How a command ended; a negative code is the signal that killed it."""

    code: int
    stdout: str
    stderr: str


class Command:
    """A running command."""

    def __init__(self, connection: socket.socket, files: tuple[Path, Path]) -> None:
        self._stream = connection.makefile("r", encoding="utf-8")
        self._connection, self._files = connection, files
        self.pid = int(self._stream.readline())
        self._over = threading.Event()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal; its end can still be awaited afterwards."""
        os.kill(self.pid, number)

    def wait(self) -> Ended:
        with self._connection, self._stream:
            code = int(self._stream.readline())
        out, err = (path.read_text(encoding="utf-8") for path in self._files)
        for path in self._files:
            path.unlink()
        return Ended(code, out, err)


class Shell:
    """Starts such commands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0
        self._lock = threading.Lock()

    def start(self, *arguments: str, folder: Path, environment: Mapping[str, str]) -> Command:
        with self._lock:
            self._count += 1
            name = self.path.parent / f"command-{self._count}"
        files = (name.with_suffix(".out"), name.with_suffix(".err"))
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(300)
        connection.connect(str(self.path))
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": dict(environment),
            "files": [str(file) for file in files],
        }
        connection.sendall(json.dumps(request).encode() + b"\n")
        return Command(connection, files)


@contextmanager
def shell(folder: Path) -> Iterator[Shell]:
    """Run a shell for the duration of the block."""
    path = folder / "s"
    process = subprocess.Popen(
        [sys.executable, __file__, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        yield Shell(path)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@cache
def common() -> Shell:
    """Return the shell shared by all tests of this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="paddlespec-shell-"))
    return stack.enter_context(shell(Path(folder)))


def main(path: str) -> None:
    """Accept commands until the parent closes the standard input, or dies."""
    warm_up(Path(path).parent)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([server, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        connection, _ = server.accept()
        if not os.fork():
            server.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            attend(connection)
        connection.close()


def attend(connection: socket.socket) -> None:
    """Start one command, and report its end."""
    request = json.loads(connection.makefile("r", encoding="utf-8").readline())
    pid = os.fork()
    if not pid:
        connection.close()
        become(request)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Be the command, as the interpreter would run it."""
    # The commands that warmed up this process left what ends a process at once.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in enumerate(request["files"], 1):
        os.dup2(os.open(name, flags, 0o600), number)
    sys.argv = ["paddlespec", *request["arguments"]]
    from paddlespec.__main__ import main as command

    code = 70
    try:
        command()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def warm_up(folder: Path) -> None:
    """Import everything, templates included."""
    import contextlib
    import importlib
    import io
    import pkgutil

    import paddlespec

    for module in pkgutil.walk_packages(paddlespec.__path__, "paddlespec."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from paddlespec.__main__ import main as command

    for arguments in (
        ["init", str(folder / "warm")],
        ["render", str(folder / "warm"), "--no-color"],
    ):
        sys.argv = ["paddlespec", *arguments]
        nowhere = io.StringIO()
        with (
            contextlib.suppress(SystemExit),
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            command()


if __name__ == "__main__":
    main(sys.argv[1])
