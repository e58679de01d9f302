"""One replica as a process: its start, its output, its end."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from typing import TYPE_CHECKING

from paddlespec.local import fresh, tree
from paddlespec.local.state import Replica, Step

if TYPE_CHECKING:
    from paddlespec.local.launch import Process
    from paddlespec.local.log_writer import LogWriter

CHUNK = 64 * 1024
_TAIL = 16 * 1024
_DRAIN_SECONDS = 5.0
_DEFAULTS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGCHLD", "SIGPIPE", "SIGXFSZ", "SIGUSR1")


class Running:
    """One replica, in one attempt after another."""

    def __init__(self, process: Process, log: LogWriter) -> None:
        self.process, self.log = process, log
        self.attempt = 1
        self.state = Replica(process.name, process.role, process.replica)
        self.pid: int | None = None
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
        """Whether it ended badly, and not because it was told to end."""
        return self.has_ended and bool(self.state.code) and not self.stopped

    @property
    def is_drained(self) -> bool:
        """Whether no output comes any more; what fled from it may hold the other end."""
        return self.output is None or time.monotonic() - self.ended_at > _DRAIN_SECONDS

    def begin_attempt(self, number: int) -> None:
        """Forget the end of the attempt before."""
        own = self.process
        self.attempt = number
        self.state = Replica(own.name, own.role, own.replica, attempt=number)
        self.pid, self.tail, self.stopped, self.since = None, b"", False, time.monotonic()
        if number > 1:
            self.log.say(f"attempt {number}")
            self._renew()

    def _renew(self) -> None:
        """Give it what a new pod would have; a program that finds too little fails by itself."""
        try:
            for each in self.process.fresh:
                fresh.make(each)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self.log.say(f"its folders could not be made anew: {reason}")

    def start(self, record: int, files: tuple[int, int]) -> None:
        """
        Start the process, which may open as many *files*.

        The guard learns of it through *record* before the program runs.
        """
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
        """Pass on what there is of its output, one chunk at most; whether more may come."""
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
        """No more output comes."""
        if self.output is not None:
            os.close(self.output)
            self.output = None
            self.log.end_line()

    def end(self, status: int) -> None:
        """Note the end; what it left behind in its session goes too, as in a container."""
        assert self.pid is not None
        tree.signal_group(self.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(status)
        self.ended_at = time.monotonic()
        self.state = self.state._replace(
            step=Step.ended,
            ready=False,
            code=128 - code if code < 0 else code,
            why=self.state.why or ("stopped" if self.stopped else None),
            finished=now(),
        )

    def ask_to_end(self) -> None:
        if self.runs and self.pid is not None:
            self.stopped = True
            tree.signal_group(self.pid, signal.SIGTERM)
            tree.signal_group(self.pid, signal.SIGCONT)

    def kill(self, why: str | None = None) -> None:
        """Kill it; with *why* as its own failure, or else because all has to end."""
        if not self.runs or self.pid is None:
            return
        self.stopped = self.stopped or why is None
        self.state = self.state._replace(why=why or self.state.why)
        for each in tree.descendants(self.pid):
            tree.kill(each)
        tree.signal_group(self.pid, signal.SIGKILL)


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _become(
    process: Process, output: int, record: int, parent: int, files: tuple[int, int]
) -> None:
    """In the child: turn into the program, or say why not as a shell does."""
    code = 126
    try:
        os.setsid()
        tree.die_with_parent(parent)
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
        named = error.filename if isinstance(error.filename, str) else process.argv[0]
        said = f"paddlespec: cannot run {named}: {(error.strerror or '').lower()}\n"
        with contextlib.suppress(OSError):
            os.write(2, said.encode(errors="replace"))
    finally:
        os._exit(code)
