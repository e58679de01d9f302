"""This machine as a backend."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.capabilities import Capabilities
from paddlespec.backends.local.change.apply import Apply
from paddlespec.backends.local.change.preview import outlook
from paddlespec.backends.local.observe import histories, leavings, progress
from paddlespec.backends.local.observe import job_states as jobs
from paddlespec.backends.local.offers import (
    LACKS,
    LocalAddresses,
    LocalAdvice,
    LocalExecutes,
    LocalHoldings,
    LocalLogs,
    LocalRanks,
)
from paddlespec.backends.local.store.job_folder import DEFAULT_NAMESPACE, JobFolder, known_job
from paddlespec.backends.local.store.run_state import is_alive, now, read
from paddlespec.backends.local.supervisor.spawn import stop
from paddlespec.runs.failures import Interrupted, JobFailed, OperationFailed, TimeRanOut
from paddlespec.runs.history import State
from paddlespec.runs.outcome import ending
from paddlespec.runs.values import Compared, Contents, Event, Progress, Run, Until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paddlespec.backends.local.prepare.options import Options
    from paddlespec.backends.local.store.run_state import Status as RunState
    from paddlespec.runs.history import Recorded
    from paddlespec.runs.state import JobState, Status
    from paddlespec.runs.values import Consent, Mode, Unread, Work

_TICK = 0.1
_MOMENT = 0.25


class Attached(NamedTuple):
    """A run that ends with this command unless it is released."""

    folder: str
    leash: int


class Engine:
    """
    The operations on this machine.

    With `attached`, the runs it starts end with this command, unless the command times out.
    """

    def __init__(
        self,
        namespace: str | None,
        options: Options | None = None,
        *,
        attached: bool = False,
        deadline: float | None = None,
        report: Callable[[str], None] = lambda _: None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.namespace = namespace or DEFAULT_NAMESPACE
        self.options, self.attached, self.environment = options, attached, environment
        self._deadline, self._report = deadline, report
        self._cancelled = False
        self._leashes: list[Attached] = []
        self.capabilities = Capabilities(
            logs=LocalLogs(namespace),
            ranks=LocalRanks(namespace),
            executes=LocalExecutes(self),
            addresses=LocalAddresses(),
            holdings=LocalHoldings(),
            advice=LocalAdvice(self),
            lacks=LACKS,
        )

    def until(self, deadline: float | None) -> None:
        """Give up when the monotonic clock shows *deadline*."""
        self._deadline = deadline

    def pause(self, seconds: float) -> None:
        """
        Wait briefly; polling this machine costs no requests.

        Raises `TimeRanOut` at the deadline, after releasing attached runs.
        """
        if self._cancelled:
            raise Interrupted
        left = seconds if self._deadline is None else self._deadline - time.monotonic()
        if left <= 0:
            self._release()
            raise TimeRanOut("timed out")
        time.sleep(min(seconds, left, _MOMENT))

    def share(self, jobs: int) -> None:
        """Do nothing: no requests are made."""

    def cancel(self) -> None:
        """Make every pause raise `Interrupted`."""
        self._cancelled = True

    def close(self) -> None:
        """Stop the attached runs, and wait until they have ended."""
        for run in self._leashes:
            os.close(run.leash)
        left = [run for run in self._leashes if is_alive(run.folder)]
        self._leashes.clear()
        if any(_is_running(run.folder) for run in left):
            self._report("stopping; press Ctrl-C again to exit without waiting")
        for run in left:
            while is_alive(run.folder):
                time.sleep(_TICK)

    def compare(self, work: Work, consent: Consent) -> Compared:
        """Compare *work* with the current run."""
        return outlook(self._folder(work.name), work, consent)

    def apply(
        self, work: Work, mode: Mode, report: Callable[[Event], None], consent: Consent
    ) -> Run:
        """Run *work*, unless it already runs."""
        apply = Apply(
            self._folder(work.name),
            work,
            mode,
            report,
            consent,
            options=self.options,
            attached=self.attached,
            pause=self.pause,
        )
        run = apply()
        if apply.leash is not None:
            self._leashes.append(Attached(apply.run_folder, apply.leash))
        return run

    def look(self, run: Run, until: Until) -> Progress:
        """Return the progress of *run* towards *until*."""
        name = run.work.name
        folder = self._folder(name)
        record = next((known for known in folder.history().runs if known.uid == run.uid), None)
        status = folder.status(record.number) if record else None
        if record is None or (status is None and not record.is_over):
            raise OperationFailed(f"{name} was deleted")
        if status is None or record.state in (State.killed, State.replaced):
            return _outcome(name, record.state)
        return progress.progress(status, until)

    def is_running(self, run: Run) -> bool:
        """Report whether *run* has not ended."""
        status = self._latest(self._folder(run.work.name))
        return status is not None and status.uid == run.uid and not status.phase.is_over

    def leavings(self, run: Run) -> list[str]:
        """Describe what *run* left: its results, and files that a pod would have lost."""
        folder = self._folder(run.work.name)
        record = next((known for known in folder.history().runs if known.uid == run.uid), None)
        if record is None or not record.is_over:
            return []
        return leavings.described(folder, record, run.work.manifests)

    def contents(self, name: str, *, claims: bool) -> Contents:  # noqa: ARG002 - there are no claims
        """Return what a removal of *name* would stop."""
        state = self._latest(known_job(self.namespace, name, self.environment))
        if state is None or state.phase.is_over:
            return Contents(0, {}, None)
        running: dict[str, int] = {}
        for replica in state.replicas:
            if replica.step.value == "running":
                running[replica.role] = running.get(replica.role, 0) + 1
        return Contents(len(state.replicas), running, state.started)

    def remove(
        self,
        name: str,
        report: Callable[[Event], None],
        *,
        claims: bool,
        force_unlock: bool = False,  # noqa: ARG002 - the system frees locks of processes that ended
    ) -> None:
        """Stop a job; with *claims*, delete its logs and its history too."""
        folder = self._folder(name)
        with folder.locked(lambda: self.pause(_TICK)):
            history = folder.history()
            status = self._latest(folder)
            if status is not None and not status.phase.is_over:
                folder.change(lambda known: known.end(status.uid, State.killed, now()))
                stop(status)
                for replica in status.replicas:
                    if replica.step.value != "ended":
                        report(Event("stopped", f"Process/{replica.name}"))
            elif left := folder.clean():
                report(Event("stopped", f"{_count(left)} of a lost run"))
            elif not claims:
                last = history.ran
                end = f"run {last.number} {ending(last.state)}" if last else "it never ran"
                report(Event(f"{name} is not running: {end}"))
            if claims:
                folder.mark_deleted()
                report(Event("deleted", f"Rehearsal/{name}"))

    def remaining(self, name: str, *, claims: bool) -> Progress:
        """Return whether the job has ended, and what it waits for."""
        folder = self._folder(name)
        alive = folder.alive()
        if alive:
            status = folder.status(alive[-1])
            running = (
                sum(replica.step.value == "running" for replica in status.replicas) if status else 0
            )
            what = _count(running) if running else "leftover processes"
            return Progress(False, True, f"waiting for {what} to end")
        if claims:
            with folder.locked(lambda: self.pause(_TICK)):
                folder.remove_if_empty()
        return Progress(True, True, "nothing left")

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        """Return all jobs, with finished ones if *over*, and unreadable ones."""
        return jobs.job_states(self.namespace, self.environment, everywhere=everywhere, over=over)

    def status(self, name: str) -> Status:
        """Return everything about one job."""
        return jobs.status(self.namespace, name, self.environment)

    def glance(self, name: str) -> Status:
        """Return the job and its replicas, which is everything that is known here."""
        return self.status(name)

    def run_of(self, name: str) -> Run | None:
        """Return the latest run of a job; None until it has started."""
        return jobs.run_of(self.namespace, name, self.environment)

    def record(self, name: str) -> Recorded:
        """Return the history of one job."""
        return histories.record(self.namespace, name, self.environment)

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        """Return the histories of all jobs, and unreadable ones."""
        return histories.records(self.namespace, self.environment, everywhere=everywhere)

    def _folder(self, name: str) -> JobFolder:
        return JobFolder(self.namespace, name, self.environment)

    def _latest(self, folder: JobFolder) -> RunState | None:
        last = folder.history().ran
        return folder.status(last.number) if last is not None else None

    def _release(self) -> None:
        """Let attached runs outlive this command."""
        for run in self._leashes:
            with contextlib.suppress(OSError):
                os.write(run.leash, b"go on")
            os.close(run.leash)
        self._leashes.clear()


def _is_running(folder: str) -> bool:
    state = read(folder)
    return state is not None and not state.phase.is_over


def _count(processes: int) -> str:
    return f"{processes} process{'' if processes == 1 else 'es'}"


def _outcome(name: str, state: State) -> Progress:
    """Return or raise how a run ended, from its record alone."""
    if state is State.succeeded:
        return Progress(True, True, "complete")
    message = f"{name} {ending(state)}"
    if state is State.replaced:
        raise OperationFailed("replaced by another run")
    if state is State.failed:
        raise JobFailed(message)
    raise OperationFailed(message, "run it again: paddlespec apply --rerun")
