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
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Commands import these when they need them.
LAZY = ("_strptime", "encodings.unicode_escape", "jsonschema_rs")
PARAMETER_SERVERS = (
    *("-u", "mode=ps", "-u", "command=python train.py"),
    *("-u", "pservers={replicas: 1, resources: {cpu: 1, memory: 1Gi}}"),
)


class Ended(NamedTuple):
    """How a command ended; a negative code is the signal that killed it."""

    code: int
    stdout: str
    stderr: str


class Process:
    """A running command, with the part of the interface of `subprocess.Popen` that tests use."""

    def __init__(self, connection: socket.socket, stdout: IO[str], stderr: IO[str]) -> None:
        self._connection, self.stdout, self.stderr = connection, stdout, stderr
        self._answers = connection.makefile("r", encoding="utf-8")
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        with self._lock:
            if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
                self.returncode = int(self._answers.readline())
                self._answers.close()
                self._connection.close()
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            select.select([self._connection], [], [], timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("paddlespec", timeout or 0)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what it has still to print on stdout and stderr, once it has ended."""
        limit = None if timeout is None else time.monotonic() + timeout
        texts = ["", ""]

        def read(number: int, stream: IO[str]) -> None:
            texts[number] = "" if stream.closed else stream.read()

        threads = [
            threading.Thread(target=read, args=(number, stream), daemon=True)
            for number, stream in enumerate((self.stdout, self.stderr))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(None if limit is None else max(0.0, limit - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            raise subprocess.TimeoutExpired("paddlespec", timeout or 0)
        self.wait(None if limit is None else max(0.0, limit - time.monotonic()))
        self.stdout.close()
        self.stderr.close()
        return texts[0], texts[1]

    def send_signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Shell:
    """Starts such commands."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(self, *arguments: str, folder: Path, environment: Mapping[str, str]) -> Process:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self.path))
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": dict(environment),
        }
        pipes = [os.pipe(), os.pipe()]
        socket.send_fds(connection, [b"."], [written for _, written in pipes])
        for _, written in pipes:
            os.close(written)
        connection.sendall(json.dumps(request).encode() + b"\n")
        out, err = (open(read, encoding="utf-8") for read, _ in pipes)  # noqa: SIM115
        return Process(connection, out, err)

    def run(self, *arguments: str, folder: Path, environment: Mapping[str, str]) -> Ended:
        """Start a command, and wait for its end."""
        return ended(self.start(*arguments, folder=folder, environment=environment))


def ended(process: Process) -> Ended:
    """Wait for the end of a command."""
    out, err = process.communicate(timeout=300)
    assert process.returncode is not None
    return Ended(process.returncode, out, err)


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
    _, outputs, _, _ = socket.recv_fds(connection, 1, 2)
    request = json.loads(connection.makefile("r", encoding="utf-8").readline())
    pid = os.fork()
    if not pid:
        connection.close()
        become(request, outputs)
    for output in outputs:
        os.close(output)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def become(request: dict[str, Any], outputs: list[int]) -> None:
    """Be the command, as the interpreter would run it."""
    # The commands that warmed up this process left what ends a process at once.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
        os.close(output)
    # Those of the parent know whether they can seek, which the new ones cannot.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
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
    """Import everything, and remember what is the same for every command of a run."""
    import contextlib
    import importlib
    import io
    import pkgutil

    import paddlespec

    for module in pkgutil.walk_packages(paddlespec.__path__, "paddlespec."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LAZY:
        importlib.import_module(name)
    remember()
    from paddlespec.__main__ import main as command

    # What an earlier run left in a cache would not be compiled here.
    os.environ["XDG_CACHE_HOME"] = str(folder)
    # Templates of a folder are compiled in another way, even those that it does not override.
    (folder / "templates").mkdir()
    spec, overridden = str(folder / "warm"), ("--templates", str(folder / "templates"))
    for arguments in (
        ("init", spec),
        ("render", spec, "--no-color"),
        ("render", spec, *overridden),
        ("render", spec, *PARAMETER_SERVERS, *overridden),
        ("render", spec, *PARAMETER_SERVERS, "--no-color"),
    ):
        sys.argv = ["paddlespec", *arguments]
        nowhere = io.StringIO()
        with (
            contextlib.suppress(SystemExit),
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            command()


def remember() -> None:
    """Scan installed packages and compile each template once: forks begin with the results."""
    import importlib.metadata

    import jinja2

    setattr(importlib.metadata, "entry_points", cache(importlib.metadata.entry_points))  # noqa: B010
    for group in ("paddlespec.targets", "paddlespec.workloads", "paddlespec.backends"):
        importlib.metadata.entry_points(group=group)
    compiled: dict[object, Any] = {}
    compile_template: Any = jinja2.Environment.compile

    def compile_once(self: jinja2.Environment, source: str, *names: object) -> Any:
        key = (type(self), source, names)
        if key not in compiled:
            compiled[key] = compile_template(self, source, *names)
        return compiled[key]

    setattr(jinja2.Environment, "compile", compile_once)  # noqa: B010 - a method is not assignable


if __name__ == "__main__":
    main(sys.argv[1])
