"""
One apply of one job on this machine: what is there, what is to be done, the record, the start.

What is about to happen is recorded first; the supervisor says itself that the run has begun.
Whatever dies in between, the next command sees what is true.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING

from paddlespec.backend import Event, Mode, OperationFailed, Run
from paddlespec.history import Provenance, RunRecord, State
from paddlespec.lifecycle import Step
from paddlespec.local import start, state
from paddlespec.local.folder import private
from paddlespec.local.outlook import decided
from paddlespec.local.processes import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Consent, Work
    from paddlespec.local.folder import JobFolder
    from paddlespec.local.launch import Launch
    from paddlespec.local.options import Options

_TICK = 0.1


class Apply:
    """One apply; `leash` holds the run that it started, in `run_folder`, when it is attached."""

    def __init__(
        self,
        folder: JobFolder,
        work: Work,
        mode: Mode,
        tell: Callable[[Event], None],
        consent: Consent,
        *,
        options: Options | None,
        attached: bool,
        pause: Callable[[float], None],
    ) -> None:
        self.folder, self.work, self.mode, self.tell = folder, work, mode, tell
        self.consent, self.options, self.attached, self.pause = consent, options, attached, pause
        self.leash: int | None = None
        self.run_folder = ""

    def __call__(self) -> Run:
        if self.mode is not Mode.none:
            return self._would()
        told = False

        def waiting() -> None:
            nonlocal told
            if not told:
                self.tell(Event(f"waiting for another command that changes {self.work.name}"))
            told = True
            self.pause(_TICK)

        with self.folder.locked(waiting):
            while self.folder.is_going() or self._begins():
                self.pause(_TICK)
        with self.folder.locked(waiting):
            return self._apply()

    def _begins(self) -> bool:
        """Whether a run is about to begin whose command has died since."""
        return any(self.folder.status(each) is None for each in self.folder.alive())

    def _apply(self) -> Run:
        history = self.folder.change(lambda each: each)
        decision = decided(self.folder, self.work, history, self.consent)
        if decision.why:
            self.tell(Event(decision.why))
        last = history.ran
        if decision.step is Step.nothing:
            assert last is not None
            return self._as(last)
        if decision.step is Step.keep:
            assert last is not None
            for each in self._processes():
                self.tell(Event("unchanged", each))
            return self._as(last)
        return self._anew(last)

    def _as(self, last: RunRecord) -> Run:
        there = os.path.isdir(self.folder.run(last.number))
        ended = None if there or not last.is_over else last.state
        return Run(self.work, self.folder.namespace, last.uid, ended)

    def _would(self) -> Run:
        """What an apply would do; nothing is written, nothing starts."""
        history = self.folder.history()
        decision = decided(self.folder, self.work, history, self.consent)
        last = history.ran
        if decision.why:
            self.tell(Event(decision.why))
        if self.mode is Mode.server and decision.step is not Step.nothing:
            verb = "unchanged" if decision.step is Step.keep else "would be started"
            for each in self._processes():
                self.tell(Event(f"{verb} (dry run)", each))
        return Run(self.work, self.folder.namespace, last.uid if last else None)

    def _anew(self, last: RunRecord | None) -> Run:
        """A new run, once the earlier one is gone with all its processes."""
        history = self.folder.change(lambda each: each.intend(self._intent()))
        latest = history.latest
        assert latest is not None
        folder = self.run_folder = self.folder.run(latest.number)
        shutil.rmtree(folder, ignore_errors=True)  # of an intent that came to nothing
        if last is not None and last.number in self.folder.alive():
            self._end(last)
        self.folder.clean()
        os.makedirs(folder, mode=0o700)
        try:
            launch = self._prepared(folder)
            private(os.path.join(folder, "manifests.json"), json.dumps(self.work.manifests))
            lock = start.hold(folder)
            try:
                self.leash = start.start(folder, launch, lock, attached=self.attached)
            finally:
                os.close(lock)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise OperationFailed(
                f"cannot write to {folder}: {(error.strerror or '').lower()}"
            ) from None
        except BaseException:  # an interrupt as well leaves no half of a run
            if not state.is_alive(folder):
                shutil.rmtree(folder, ignore_errors=True)
            raise
        self.folder.change(lambda each: each.begin(launch.uid, now()))
        for each in launch.processes:
            self.tell(Event("started", f"Process/{each.name}"))
        self.folder.forget_old_runs()
        return Run(self.work, self.folder.namespace, launch.uid)

    def _prepared(self, folder: str) -> Launch:
        from paddlespec.local.options import Options
        from paddlespec.local.prepare import prepare

        return prepare(self.work, self.options or Options(environment=os.environ), folder)

    def _end(self, last: RunRecord) -> None:
        """End an earlier run, and wait until nothing of it is left."""
        from paddlespec.local.engine import stop

        uid = last.uid
        assert uid is not None
        if last.state is State.running:
            self.folder.change(lambda each: each.end(uid, State.replaced, now()))
        status = self.folder.status(last.number)
        if status is not None:
            stop(status)
        self.tell(Event("waiting for the end of an earlier run"))
        since = time.monotonic()
        while last.number in self.folder.alive():
            if time.monotonic() - since > _LONGEST_END:
                raise OperationFailed(
                    f"an earlier run of {self.work.name} does not end",
                    f"paddlespec kill {self.work.name} --target local",
                )
            self.pause(_TICK)

    def _intent(self) -> RunRecord:
        from hashlib import sha256

        text = json.dumps(self.work.manifests, sort_keys=True, separators=(",", ":"))
        return RunRecord(
            0,
            State.intended,
            self.work.provenance or Provenance("unknown"),
            self.work.fingerprint,
            sha256(text.encode()).hexdigest()[:16],
            spec=self.work.spec,
        )

    def _processes(self) -> list[str]:
        found = self.work.manifests
        return [
            f"Process/{each['metadata']['name']}" for each in found if each["kind"] == "Process"
        ]


_LONGEST_END = 300.0
