"""One replica as a process: its start, its output, its end."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from typing import TYPE_CHECKING

from paddlespec.backends.local.machine import process_tree
from paddlespec.backends.local.prepare import attempt
from paddlespec.backends.local.store.run_state import STOPPED, Replica, Step, now

if TYPE_CHECKING:
    from paddlespec.backends.local.logs.log_writer import LogWriter
    from paddlespec.backends.local.store.launch import Process

CHUNK = 64 * 1024
_TAIL = 64 * 1024
_DRAIN_SECONDS = 5.0
_DEFAULTS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGCHLD", "SIGPIPE", "SIGXFSZ", "SIGUSR1")


class Running:
    """One replica, through all of its attempts."""

    def __init__(self, process: Process, log: LogWriter) -> None:
        self.process, self.log = process, log
        self.attempt = 1
        self.state = Replica(process.name, process.role, process.replica)
        self.pid: int | None = None
        self._monitor: int | None = None
        self.output: int | None = None
        self.tail = b""
        self.stopped = False
        self.since = time.monotonic()
        self.ended_at = 0.0

    @property
    def runs(self) -> bool:
        return self.state.step is Step.running

    @property
    def has_ended(self) -> bool:
        return self.state.step is Step.ended

    @property
    def failed(self) -> bool:
        """Whether it ended with an error without being stopped."""
        return self.has_ended and bool(self.state.code) and not self.stopped

    @property
    def root(self) -> int | None:
        """
        The process above all processes of the program.

        Podman starts a container below a monitor, which is no descendant of `podman run`.
        """
        if self._monitor is None and self.process.container is not None:
            self._monitor = _own_process(self.process.container.pid_file)
        return self._monitor or self.pid

    @property
    def is_drained(self) -> bool:
        """Whether all output has arrived; a descendant may keep the pipe open."""
        return self.output is None or time.monotonic() - self.ended_at > _DRAIN_SECONDS

    def begin_attempt(self, number: int) -> None:
        """Forget the end of the previous attempt."""
        own = self.process
        self.attempt = number
        self.state = Replica(own.name, own.role, own.replica, attempt=number)
        self.pid, self.tail, self.stopped, self.since = None, b"", False, time.monotonic()
        self._monitor = None
        if number > 1:
            self.log.say(f"attempt {number}")
            self._renew()

    def _renew(self) -> None:
        """Recreate its fresh folders, as for a new pod; if that fails, the program reports it."""
        try:
            for fresh in self.process.fresh:
                attempt.make(fresh)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self.log.say(f"cannot recreate its folders: {reason}")

    def start(self, record: int, files: tuple[int, int]) -> None:
        """
        Start the process with *files* as the limits of open files.

        The guard reads its process id from *record* before the program runs.
        """
        if self.process.container is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.process.container.pid_file)
        read, write = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become(self.process, write, record, parent, files)
        os.close(write)
        os.set_blocking(read, False)
        self.pid, self.output, self.since = pid, read, time.monotonic()
        self.state = self.state._replace(step=Step.running, pid=pid, started=now())

    def read(self) -> bool:
        """Pass on at most one chunk of its output; return whether there may be more."""
        if self.output is None:
            return False
        try:
            chunk = os.read(self.output, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            return False
        self.tail = (self.tail + chunk[-_TAIL:])[-_TAIL:]
        self.log.write(chunk)
        return True

    def close(self) -> None:
        """Stop reading its output."""
        if self.output is not None:
            os.close(self.output)
            self.output = None
            self.log.end_line()

    def end(self, status: int) -> None:
        """Record the end, and kill what it left behind in its session, as in a container."""
        assert self.pid is not None
        process_tree.signal_group(self.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(status)
        if code < 0 and self.root is not None:  # a container outlives a killed `podman run`
            _kill_below(self.root)
        self.ended_at = time.monotonic()
        self.state = self.state._replace(
            step=Step.ended,
            ready=False,
            code=128 - code if code < 0 else code,
            why=self.state.why or (STOPPED if self.stopped else None),
            finished=now(),
        )

    def ask_to_end(self) -> None:
        if self.runs and self.pid is not None:
            self.stopped = True
            process_tree.signal_group(self.pid, signal.SIGTERM)
            process_tree.signal_group(self.pid, signal.SIGCONT)

    def kill(self, why: str | None = None) -> None:
        """Kill it, because of its own failure *why* or because the run ends."""
        if not self.runs or self.pid is None:
            return
        self.stopped = self.stopped or why is None
        self.state = self.state._replace(why=why or self.state.why)
        _kill_below(self.root or self.pid)
        process_tree.signal_group(self.pid, signal.SIGKILL)


def _kill_below(root: int) -> None:
    for pid in process_tree.descendants(root):
        process_tree.kill(pid)


def _own_process(file: str) -> int | None:
    """Return the process named in *file* if it is below this one; another may reuse its id."""
    try:
        with open(file, encoding="ascii") as text:
            pid = int(text.read())
    except (OSError, ValueError):
        return None
    return pid if pid in process_tree.descendants(os.getpid()) else None


def _become(
    process: Process, output: int, record: int, parent: int, files: tuple[int, int]
) -> None:
    """In the child: execute the program, or print why that fails, as a shell does."""
    code = 126
    try:
        os.setsid()
        process_tree.die_with_parent(parent)
        os.write(record, f"{os.getpid()}\n".encode())
        for name in _DEFAULTS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
        null = os.open(os.devnull, os.O_RDONLY)
        for fd, own in ((null, 0), (output, 1), (output, 2)):
            os.dup2(fd, own)
        os.chdir(process.cwd)
        os.execvpe(process.argv[0], process.argv, process.env)  # noqa: S606 - no shell between
    except OSError as error:
        code = 127 if isinstance(error, FileNotFoundError) else 126
        program = error.filename if isinstance(error.filename, str) else process.argv[0]
        message = f"paddlespec: cannot run {program}: {(error.strerror or '').lower()}\n"
        with contextlib.suppress(OSError):
            os.write(2, message.encode(errors="replace"))
    finally:
        os._exit(code)
