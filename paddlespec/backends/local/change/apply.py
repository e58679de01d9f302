"""
Apply one job on this machine: read what exists, decide, and take each step.

The run is recorded before it starts; the supervisor itself records that it has started. If the
command or the supervisor dies in between, the next command still sees the true state.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING

from paddlespec.backends.local.change.preview import Snapshot
from paddlespec.backends.local.store import run_state
from paddlespec.backends.local.store.job_folder import private
from paddlespec.backends.local.store.run_state import now
from paddlespec.backends.local.supervisor import spawn
from paddlespec.change.decide import decide
from paddlespec.change.steps import Begin, Create, End, Record, Replace, Update, WaitUntilGone
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import State
from paddlespec.runs.values import Event, Mode, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.local.prepare.options import Options
    from paddlespec.backends.local.store.job_folder import JobFolder
    from paddlespec.backends.local.store.launch import Launch
    from paddlespec.change.steps import Step
    from paddlespec.runs.history import History, RunRecord
    from paddlespec.runs.values import Consent, Work

_TICK = 0.1
_PATIENCE_SECONDS = 300


class Apply:
    """One apply; if attached, `leash` holds the run it started in `run_folder`."""

    def __init__(
        self,
        folder: JobFolder,
        work: Work,
        mode: Mode,
        report: Callable[[Event], None],
        consent: Consent,
        *,
        options: Options | None,
        attached: bool,
        pause: Callable[[float], None],
    ) -> None:
        self.folder, self.work, self.mode, self.report = folder, work, mode, report
        self.consent, self.options, self.attached, self.pause = consent, options, attached, pause
        self.leash: int | None = None
        self.run_folder = ""
        self._launched: str | None = None

    def __call__(self) -> Run:
        if self.mode is not Mode.none:
            return self._apply(self.folder.history())
        shown = False

        def waiting() -> None:
            nonlocal shown
            if not shown:
                self.report(Event(f"waiting for another command that changes {self.work.name}"))
            shown = True
            self.pause(_TICK)

        with self.folder.locked(waiting):
            while self.folder.is_going() or self._begins():
                self.pause(_TICK)
        with self.folder.locked(waiting):
            return self._apply(self.folder.change(lambda history: history))

    def _begins(self) -> bool:
        """Report whether a run is starting whose command has died."""
        return any(self.folder.status(number) is None for number in self.folder.alive())

    def _apply(self, history: History) -> Run:
        snapshot = Snapshot(self.folder, self.work, history)
        decision = decide(history, snapshot, self.work, self.consent)
        if decision.refusal is not None:
            raise decision.refusal
        for note in decision.notes:
            self.report(Event(note))
        for step in decision.steps:
            if self.mode is Mode.none:
                self._take(step, history)
            self._report_step(step)
        if self._launched is not None:
            self.folder.forget_old_runs()
            return Run(self.work, self.folder.namespace, self._launched)
        last = history.ran
        if last is None:
            return Run(self.work, self.folder.namespace, None)
        there = self.mode is not Mode.none or os.path.isdir(self.folder.run(last.number))
        ended = None if there or not last.is_over else last.state
        return Run(self.work, self.folder.namespace, last.uid, ended)

    def _take(self, step: Step, history: History) -> None:
        match step:
            case Record(intent) if intent is not None:
                latest = self.folder.change(lambda known: known.intend(intent)).latest
                assert latest is not None
                self.run_folder = self.folder.run(latest.number)
                shutil.rmtree(
                    self.run_folder, ignore_errors=True
                )  # left by an intent that never started
            case End(uid):
                self._end(next(run for run in history.runs if run.uid == uid))
            case WaitUntilGone():
                self.folder.clean()
            case Begin():
                self._launch(self.run_folder)
            case _:
                pass

    def _report_step(self, step: Step) -> None:
        if not isinstance(step, Create | Replace | Update) or step.manifest["kind"] != "Process":
            return
        verb = "unchanged" if isinstance(step, Update) else "started"
        if self.mode is Mode.server:
            verb = f"{'' if verb == 'unchanged' else 'would be '}{verb} (dry run)"
        if self.mode is not Mode.client:
            self.report(Event(verb, f"Process/{step.manifest['metadata']['name']}"))

    def _launch(self, folder: str) -> None:
        """Start all processes of the new run."""
        os.makedirs(folder, mode=0o700)
        try:
            launch = self._prepared(folder)
            private(os.path.join(folder, "manifests.json"), json.dumps(self.work.manifests))
            lock = spawn.hold(folder)
            try:
                self.leash = spawn.start(folder, launch, lock, attached=self.attached)
            finally:
                os.close(lock)
        except OSError as error:
            self._withdraw(folder)
            raise OperationFailed(
                f"cannot write to {folder}: {(error.strerror or '').lower()}"
            ) from None
        except BaseException:  # an interrupt must not leave a partial run either
            if not run_state.is_alive(folder):
                self._withdraw(folder)
            raise
        self._launched = launch.uid
        self.folder.change(lambda history: history.begin(launch.uid, now()))

    def _withdraw(self, folder: str) -> None:
        """Forget a run that did not start; a job that never ran is forgotten as a whole."""
        shutil.rmtree(folder, ignore_errors=True)
        if self.folder.history().ran is None:
            self.folder.mark_deleted()
        else:
            self.folder.change(lambda history: history.drop_intent())

    def _prepared(self, folder: str) -> Launch:
        from paddlespec.backends.local.prepare.options import Options
        from paddlespec.backends.local.prepare.prepare import prepare

        options = self.options or Options(environment=os.environ)
        return prepare(self.work, options, folder, self._remark)

    def _remark(self, text: str) -> None:
        self.report(Event(f"{self.work.name}: {text}"))

    def _end(self, last: RunRecord) -> None:
        """Stop an earlier run, and wait until all of its processes have ended."""
        uid = last.uid
        if last.number not in self.folder.alive() or uid is None:
            return
        if last.state is State.running:
            self.folder.change(lambda history: history.end(uid, State.replaced, now()))
        status = self.folder.status(last.number)
        if status is not None:
            spawn.stop(status)
        self.report(Event("waiting for an earlier run to end"))
        since = time.monotonic()
        while last.number in self.folder.alive():
            if time.monotonic() - since > _PATIENCE_SECONDS:
                raise OperationFailed(
                    f"an earlier run of {self.work.name} did not end within {_PATIENCE_SECONDS} s",
                    f"stop it: paddlespec kill {self.work.name} --target local",
                )
            self.pause(_TICK)
