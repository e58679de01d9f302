"""
Run all replicas of a job to completion: the loop of the supervisor.

One thread passes on output, reaps processes, starts those that may start, and judges. The first
failure stops the others, unless replicas are independent; when the trainers have finished, pservers
are stopped.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING

from paddlespec.backends.local.logs.log_writer import Clock, LogWriter
from paddlespec.backends.local.machine import network, process_tree
from paddlespec.backends.local.store import run_state
from paddlespec.backends.local.store.run_state import (
    Phase,
    Replica,
    Status,
    Step,
    now,
)
from paddlespec.backends.local.supervisor.judgement import Judge, Outcome
from paddlespec.backends.local.supervisor.processes import Running
from paddlespec.quantity import as_size

if TYPE_CHECKING:
    from paddlespec.backends.local.machine.network import Address
    from paddlespec.backends.local.store.launch import Launch

_TICK = 0.2
_SAVE_SECONDS = 0.2
_MEMORY_SECONDS = 1.0
_DRAIN_SECONDS = 5.0
_PORT_SECONDS = 30.0
_MOST_FILES = 65_536
# Its output and its log, and briefly the other end of the pipe.
_FILES_OF_EACH = 2
_OWN_FILES = 24


class Supervision:
    """One run."""

    def __init__(
        self, folder: str, launch: Launch, record: int, leash: int | None, guard: int
    ) -> None:
        self.folder, self.launch, self.record, self.leash = folder, launch, record, leash
        logs = os.path.join(folder, "logs")
        os.makedirs(logs, mode=0o700, exist_ok=True)
        clock = Clock()
        self.replicas = [
            Running(process, LogWriter(os.path.join(logs, f"{process.name}.log"), clock))
            for process in launch.processes
        ]
        self.by_pid: dict[int, Running] = {}
        self.asked: str | None = None
        self.accepting: set[Address] = set()
        self.addresses = {process.name: process.listens for process in launch.processes}
        self.awaited = {choice for process in launch.processes for choice in process.waits_for}
        self.selector = selectors.DefaultSelector()
        self.judge = Judge(launch, self.replicas)
        self.files = _raise_limit()
        attempts = 1 + (0 if launch.independent else launch.retries)
        self.status = Status(
            launch.job,
            launch.uid,
            Phase.running,
            attempts=attempts,
            started=now(),
            pid=os.getpid(),
            boot=run_state.boot(),
            host=socket.gethostname(),
        )
        self._guard = guard
        self._next_save = self._next_memory = 0.0
        self._watches_memory = any(process.memory for process in launch.processes)

    def run(self, ready: int) -> None:
        """Run the job; write to *ready* that it has started, or why it cannot."""
        fault = self._too_many() or network.taken(self.addresses)
        if fault:
            with contextlib.suppress(BrokenPipeError):
                os.write(ready, fault.encode())
            os.close(ready)
            return
        self._listen_to_signals()
        self._save()
        run_state.reserve(self.folder, 4096 + 3 * len(run_state.dump(self.status)))
        with contextlib.suppress(BrokenPipeError):  # the command has ended; the run continues
            os.write(ready, b"ok")
        os.close(ready)
        while True:
            outcome = self._attempt()
            if outcome.phase is not Phase.failed or outcome.final:
                break
            if self.status.attempt >= self.status.attempts:
                break
            self.status = self.status._replace(attempt=self.status.attempt + 1)
            self._free_ports()
        self._finish(outcome)

    def _too_many(self) -> str:
        """Return why so many replicas cannot be watched."""
        count, limit = len(self.replicas), resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        needed = _OWN_FILES + _FILES_OF_EACH * count
        if limit == resource.RLIM_INFINITY or needed <= limit:
            return ""
        return (
            f"{count} replicas need {needed} open files, and the limit is {limit}: "
            f"raise it with ulimit -n {needed}"
        )

    def _attempt(self) -> Outcome:
        """Run all replicas once."""
        self.accepting.clear()
        for replica in self.replicas:
            replica.begin_attempt(self.status.attempt)
        outcome = None
        while outcome is None:
            self._start_what_may()
            self._turn(_TICK)
            outcome = self.judge(self.asked, self.accepting)
        self._stop_all(outcome)
        if outcome.culprit is not None:
            outcome = outcome._replace(culprit=self.judge.blamed(outcome.culprit))
        return outcome

    # Events during a turn.

    def _start_what_may(self) -> None:
        waiting = [replica for replica in self.replicas if replica.state.step is Step.waiting]
        missing = {
            choice for replica in waiting for choice in replica.process.lacks(self.accepting)
        }
        self.accepting |= {
            address for choice in missing for address in choice if network.accepts(address)
        }
        for replica in waiting:
            if self.asked is None and not replica.process.lacks(self.accepting):
                self._close(replica)
                replica.start(self.record, self.files)
                assert replica.pid is not None and replica.output is not None  # noqa: PT018
                self.by_pid[replica.pid] = replica
                self.selector.register(replica.output, selectors.EVENT_READ, replica)
        for replica in self.replicas:
            if replica.runs and not replica.state.ready:
                own = [
                    choice for choice in self.awaited if set(choice) & set(replica.process.listens)
                ]
                ready = not any(self.accepting.isdisjoint(choice) for choice in own)
                replica.state = replica.state._replace(ready=ready)

    def _turn(self, seconds: float) -> None:
        """Pass on output, reap processes, and check memory and clock."""
        for key, _ in self.selector.select(seconds):
            if isinstance(key.data, Running):
                self._read(key.data)
            elif key.data == "leash":
                self._read_leash()
            else:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wakeup, 4096)
        self._reap()
        if self._watches_memory and time.monotonic() >= self._next_memory:
            self._check_memory()
            self._next_memory = time.monotonic() + _MEMORY_SECONDS
        if time.monotonic() >= self._next_save:
            self._save()
            self._next_save = time.monotonic() + _SAVE_SECONDS

    def _read(self, replica: Running) -> None:
        fd = replica.output
        if fd is None:
            return
        if not replica.read():
            self.selector.unregister(fd)

    def _close(self, replica: Running) -> None:
        """Stop reading, even if another process still holds the other end."""
        if replica.output is not None:
            self.selector.unregister(replica.output)
            replica.close()

    def _read_leash(self) -> None:
        """The command that holds the leash released it, or ended."""
        assert self.leash is not None
        released = bool(os.read(self.leash, 64))
        self.selector.unregister(self.leash)
        os.close(self.leash)
        self.leash = None
        if not released:
            self.asked = self.asked or "interrupted"

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            replica = self.by_pid.pop(pid, None)
            if replica is not None:
                replica.end(status)
                self._next_save = 0.0

    def _check_memory(self) -> None:
        limited = {
            root: replica
            for replica in self.replicas
            if replica.runs and replica.process.memory and (root := replica.root)
        }
        for pid, used in process_tree.memory(limited).items():
            limit = limited[pid].process.memory
            assert limit is not None
            if used <= limit:
                continue
            used = process_tree.unshared_memory(pid)
            if used > limit:
                reason = f"out of memory: used {as_size(used)} of {as_size(limit)}"
                limited[pid].log.say(reason)
                limited[pid].kill(reason)

    # Ending the run.

    def _stop_all(self, outcome: Outcome) -> None:
        """Terminate, wait, kill; then kill what left its session."""
        self.status = self.status._replace(phase=Phase.stopping)
        self._save()
        for replica in self.replicas:
            replica.ask_to_end()
        limit = time.monotonic() + self.launch.grace
        while any(replica.runs for replica in self.replicas) and time.monotonic() < limit:
            self._turn(_TICK)
        for replica in self.replicas:
            replica.kill()
        while any(replica.runs for replica in self.replicas):
            self._turn(_TICK)
        for pid in process_tree.descendants(os.getpid()):
            process_tree.kill(pid)
        limit = time.monotonic() + _DRAIN_SECONDS
        while (
            any(replica.output is not None for replica in self.replicas)
            and time.monotonic() < limit
        ):
            self._turn(_TICK)
        for replica in self.replicas:
            self._close(replica)
        if outcome.phase is Phase.failed:
            self.status = self.status._replace(phase=Phase.running)

    def _finish(self, outcome: Outcome) -> None:
        process_tree.kill_descendants()
        for replica in self.replicas:
            replica.log.close()
        self.status = self.status._replace(
            phase=outcome.phase, message=outcome.message, culprit=outcome.culprit, finished=now()
        )
        for _ in range(20):
            if self._save():
                return
            time.sleep(0.5)
        sys.stderr.write("paddlespec: cannot write the state of the run\n")

    def _free_ports(self) -> None:
        """Wait until the ports of the previous attempt are free again."""
        limit = time.monotonic() + _PORT_SECONDS
        while network.taken(self.addresses) and time.monotonic() < limit:
            self._turn(_TICK)

    def _save(self) -> bool:
        replicas: tuple[Replica, ...] = tuple(replica.state for replica in self.replicas)
        lost = {
            replica.process.name: replica.log.lost for replica in self.replicas if replica.log.lost
        }
        self.status = self.status._replace(replicas=replicas, lost=lost)
        return run_state.write(self.folder, self.status)

    def _listen_to_signals(self) -> None:
        read, self._wakeup_write = os.pipe()
        self._wakeup = read
        for fd in (read, self._wakeup_write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._wakeup_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._ask("killed"))
        signal.signal(signal.SIGINT, lambda *_: self._ask("interrupted"))
        self.selector.register(read, selectors.EVENT_READ, "wakeup")
        if self.leash is not None:
            self.selector.register(self.leash, selectors.EVENT_READ, "leash")

    def _ask(self, why: str) -> None:
        self.asked = self.asked or why


def _raise_limit() -> tuple[int, int]:
    """Allow a pipe and a log for each of many replicas; return the previous limits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return soft, hard
