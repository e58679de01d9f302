"""This machine as a backend."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import (
    Compared,
    Contents,
    Event,
    JobFailed,
    OperationFailed,
    Progress,
    Run,
    TimeRanOut,
    Until,
)
from paddlespec.history import State
from paddlespec.lifecycle import said
from paddlespec.local import jobs, look, records
from paddlespec.local.apply import Apply
from paddlespec.local.folder import DEFAULT_NAMESPACE, JobFolder, known_job
from paddlespec.local.outlook import outlook
from paddlespec.local.processes import now
from paddlespec.local.state import Phase, is_alive, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paddlespec.backend import Consent, Mode, Unread, Work
    from paddlespec.history import Recorded
    from paddlespec.local.options import Options
    from paddlespec.local.state import Status as RunState
    from paddlespec.picture import JobState, Status

_TICK = 0.1
_MOMENT = 0.25


class Attached(NamedTuple):
    """A run that ends with this command unless it is released."""

    folder: str
    leash: int


class Engine:
    """
    The operations on this machine.

    `attached`: runs that are started end with this command, unless its time runs out. `shown`: what
    to wait for, by run, before its end is told.
    """

    def __init__(
        self,
        namespace: str | None,
        options: Options | None = None,
        *,
        attached: bool = False,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.namespace = namespace or DEFAULT_NAMESPACE
        self.options, self.attached, self.environment = options, attached, environment
        self._deadline: float | None = None
        self.tell: Callable[[str], None] = lambda _: None
        self.shown: dict[str, Callable[[], None]] = {}
        self._leashes: list[Attached] = []

    def until(self, deadline: float | None) -> None:
        """From now on, give up when the monotonic clock shows *deadline*."""
        self._deadline = deadline

    def pause(self, seconds: float) -> None:
        """
        Wait a moment, which here is a short one: nobody is asked over a network.

        Raises `TimeRanOut` at the deadline, and lets runs go on then.
        """
        left = seconds if self._deadline is None else self._deadline - time.monotonic()
        if left <= 0:
            self._release()
            raise TimeRanOut("time ran out")
        time.sleep(min(seconds, left, _MOMENT))

    def close(self) -> None:
        """End the runs that end with this command, and wait for that."""
        for each in self._leashes:
            os.close(each.leash)
        left = [each for each in self._leashes if is_alive(each.folder)]
        self._leashes.clear()
        if any(_is_running(each.folder) for each in left):
            self.tell("stopping what runs; pressed once more, Ctrl-C does not wait for that")
        for each in left:
            while is_alive(each.folder):
                time.sleep(_TICK)

    def compare(self, work: Work, consent: Consent) -> Compared:
        """What an apply would change in comparison with the run that is there."""
        return outlook(self._folder(work.name), work, consent)

    def apply(self, work: Work, mode: Mode, tell: Callable[[Event], None], consent: Consent) -> Run:
        """Make it so; what is already so is not disturbed."""
        apply = Apply(
            self._folder(work.name),
            work,
            mode,
            tell,
            consent,
            options=self.options,
            attached=self.attached,
            pause=self.pause,
        )
        run = apply()
        if apply.leash is not None:
            self._leashes.append(Attached(apply.run_folder, apply.leash))
        return run

    def ahead(self, runs: Sequence[Run]) -> None:
        """Nothing: to look at many runs here takes no longer at once than one by one."""

    def look(self, run: Run, until: Until) -> Progress:
        """How far *run* is on its way."""
        name = run.work.name
        folder = self._folder(name)
        record = next((each for each in folder.history().runs if each.uid == run.uid), None)
        status = folder.status(record.number) if record else None
        if record is None or (status is None and not record.is_over):
            raise OperationFailed(f"{name} is gone: somebody deleted it")
        if status is None or record.state in (State.killed, State.replaced):
            return _outcome(name, record.state)
        if status.phase.is_over and run.uid in self.shown:
            self.shown.pop(run.uid)()  # its last words come before its verdict
        return look.progress(status, until)

    def is_running(self, run: Run) -> bool:
        """Whether *run* goes on."""
        status = self._latest(self._folder(run.work.name))
        return status is not None and status.uid == run.uid and not status.phase.is_over

    def results(self, run: Run) -> str | None:
        """The folder with the results of *run*, if it left any."""
        folder = self._folder(run.work.name)
        record = next((each for each in folder.history().runs if each.uid == run.uid), None)
        if record is None or record.state is not State.succeeded:
            return None
        launch = folder.launch(record.number)
        place = launch.output if launch else None
        with contextlib.suppress(OSError):
            return place if place and os.listdir(place) else None
        return None

    def contents(self, name: str, *, claims: bool) -> Contents:  # noqa: ARG002 - none here
        """What there is of the job *name*."""
        found = self._latest(known_job(self.namespace, name, self.environment))
        if found is None or found.phase.is_over:
            return Contents(0, {}, None)
        running: dict[str, int] = {}
        for each in found.replicas:
            if each.step.value == "running":
                running[each.role] = running.get(each.role, 0) + 1
        return Contents(len(found.replicas), running, found.started)

    def remove(self, name: str, tell: Callable[[Event], None], *, claims: bool) -> None:
        """Stop a job; with *claims* forget it, its logs and its history too."""
        folder = self._folder(name)
        with folder.locked(lambda: self.pause(_TICK)):
            history = folder.history()
            status = self._latest(folder)
            if status is not None and not status.phase.is_over:
                folder.change(lambda each: each.end(status.uid, State.killed, now()))
                stop(status)
                for each in status.replicas:
                    if each.step.value != "ended":
                        tell(Event("stopped", f"Process/{each.name}"))
            elif left := folder.clean():
                tell(Event("stopped", f"{_count(left)} of a run that was lost"))
            elif not claims:
                last = history.ran
                over = f"run {last.number} {said(last.state)}" if last else "it never ran"
                tell(Event(f"nothing of {name} runs: {over}"))
            if claims:
                folder.mark_deleted()
                tell(Event("deleted", f"Rehearsal/{name}"))

    def remaining(self, name: str, *, claims: bool) -> Progress:
        """Whether anything is left of it."""
        folder = self._folder(name)
        alive = folder.alive()
        if alive:
            status = folder.status(alive[-1])
            running = sum(each.step.value == "running" for each in status.replicas) if status else 0
            what = _count(running) if running else "what they left behind"
            return Progress(False, True, f"waiting for the end of {what}")
        if claims:
            with folder.locked(lambda: self.pause(_TICK)):
                folder.remove_if_empty()
        return Progress(True, True, "nothing is left")

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        """All jobs, with those that are *over*, and what could not be read."""
        return jobs.job_states(self.namespace, self.environment, everywhere=everywhere, over=over)

    def status(self, name: str) -> Status:
        """Everything about one job."""
        return jobs.status(self.namespace, name, self.environment)

    def glance(self, name: str) -> Status:
        """The job and its replicas: here no more than that is known."""
        return self.status(name)

    def run_of(self, name: str) -> Run | None:
        """The run of a job that can be looked at; nothing before it is there."""
        return jobs.run_of(self.namespace, name, self.environment)

    def record(self, name: str) -> Recorded:
        """The history of one job."""
        return records.record(self.namespace, name, self.environment)

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        """The histories of all jobs, and what could not be read."""
        return records.records(self.namespace, self.environment, everywhere=everywhere)

    def _folder(self, name: str) -> JobFolder:
        return JobFolder(self.namespace, name, self.environment)

    def _latest(self, folder: JobFolder) -> RunState | None:
        last = folder.history().ran
        return folder.status(last.number) if last is not None else None

    def _release(self) -> None:
        """Let attached runs go on without this command."""
        for each in self._leashes:
            with contextlib.suppress(OSError):
                os.write(each.leash, b"go on")
            os.close(each.leash)
        self._leashes.clear()


def stop(status: RunState) -> None:
    """Ask the supervisor of a run that is alive to end it."""
    if status.pid is not None and status.phase in (Phase.running, Phase.stopping):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(status.pid, signal.SIGTERM)


def _is_running(folder: str) -> bool:
    found = read(folder)
    return found is not None and not found.phase.is_over


def _count(processes: int) -> str:
    return f"{processes} process{'' if processes == 1 else 'es'}"


def _outcome(name: str, state: State) -> Progress:
    """How a run ended of which nothing is left to look at."""
    if state is State.succeeded:
        return Progress(True, True, "complete")
    told = f"{name} {said(state)}"
    if state is State.replaced:
        raise OperationFailed("it was ended for another run")
    if state is State.failed:
        raise JobFailed(told)
    raise OperationFailed(told, "to run it again: paddlespec apply --rerun")
