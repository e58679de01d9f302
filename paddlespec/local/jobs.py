"""The jobs of this machine as the picture that all targets share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from paddlespec import exit_code
from paddlespec.backend import NotFound, OperationFailed, Run, Work
from paddlespec.local.folder import JobFolder, jobs, known_job
from paddlespec.local.look import failure
from paddlespec.local.state import Phase, Step
from paddlespec.local.verdict import ending
from paddlespec.picture import (
    Doing,
    JobState,
    RoleState,
    Stage,
    Status,
    Worker,
    in_order,
    stage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.history import RunRecord
    from paddlespec.local.launch import Process
    from paddlespec.local.state import Replica
    from paddlespec.local.state import Status as RunState

    Unread = tuple[str, OperationFailed]

TARGET = "local"
# What a supervisor writes of those that it ended with the run.
_STOPPED = "stopped"


def job_states(
    namespace: str, environment: Mapping[str, str] = os.environ, *, everywhere: bool, over: bool
) -> tuple[list[JobState], list[Unread]]:
    """The jobs of one namespace or of all, with those *over*, and what cannot be read."""
    found, failures = [], []
    for folder in jobs(environment):
        if everywhere or folder.namespace == namespace:
            try:
                found.append(_look(folder).job)
            except OperationFailed as error:
                failures.append((folder.name, error))
    return [each for each in found if over or not each.stage.is_over], failures


def status(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> Status:
    """Everything about one job; raises `NotFound`."""
    return _look(known_job(namespace, name, environment))


def run_of(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> Run | None:
    """The latest run of a job, to be looked at; nothing before it is there."""
    record = status(namespace, name, environment).record
    if record is None or record.uid is None:
        return None
    return Run(Work(name, []), namespace, record.uid)


def process_of(
    namespace: str, name: str, replica: str, environment: Mapping[str, str] = os.environ
) -> Process:
    """How the process of *replica* was started; raises `NotFound`."""
    folder = JobFolder(namespace, name, environment)
    record = folder.history().latest
    found = folder.launch(record.number) if record is not None else None
    for each in found.processes if found is not None else ():
        if each.name == replica:
            return each
    raise NotFound(f"{replica} of {name} is not known on this machine any more")


def _look(folder: JobFolder) -> Status:
    history = folder.history()
    record = history.latest
    if record is None:
        stage = Stage.intended if folder.alive() else Stage.lost
        return Status(JobState(folder.name, folder.namespace, TARGET, stage))
    state = folder.status(record.number)
    launch = folder.launch(record.number)
    places = {each.name: each for each in launch.processes} if launch else {}
    stage = _stage(record, state)
    replicas = state.replicas if state else ()
    shown = [_worker(each, places.get(each.name), stage) for each in replicas]
    workers = tuple(in_order(shown))
    job = _job(folder, record, stage, state, workers)
    failed = state is not None and state.phase is Phase.failed
    told = failure(state) if state is not None and failed else None
    return Status(job, record, workers, failure=told)


def _job(
    folder: JobFolder,
    record: RunRecord,
    stage: Stage,
    state: RunState | None,
    workers: tuple[Worker, ...],
) -> JobState:
    rehearsal = _rehearsal(folder, record.number)
    why = state.message if state is not None and stage is not Stage.succeeded else None
    if state is not None and state.attempts > 1 and not stage.is_over:
        why = f"attempt {state.attempt} of {state.attempts}"
    return JobState(
        folder.name,
        folder.namespace,
        TARGET,
        stage,
        (rehearsal.get("spec") or {}).get("mode"),
        _roles(workers),
        why if why != stage.value else None,
        started=record.started,
        finished=record.finished,
        run=record.number,
        user=record.provenance.who,
        labels=(rehearsal.get("metadata") or {}).get("labels") or {},
    )


def _rehearsal(folder: JobFolder, number: int) -> dict[str, Any]:
    """The part of what a run was made of that is about all processes."""
    found = (each for each in folder.manifests(number) if each.get("kind") == "Rehearsal")
    return next(found, {})


def _stage(record: RunRecord, state: RunState | None) -> Stage:
    """How far a run is; that somebody ended it is known before its processes know."""
    if state is None or record.is_over:
        goes_on = state is not None and not state.phase.is_over
        return Stage.stopping if goes_on else stage_of(record)
    if state.phase is not Phase.running:
        return Stage(state.phase.value)
    trainers = [each for each in state.replicas if each.role == "trainers"]
    begun = any(each.step is not Step.waiting for each in trainers)
    return Stage.running if begun else Stage.pending


def _roles(workers: tuple[Worker, ...]) -> tuple[RoleState, ...]:
    found = []
    for name in dict.fromkeys(each.role for each in workers):
        own = [each for each in workers if each.role == name]
        waiting = sum(each.state is Doing.waiting for each in own)
        found.append(
            RoleState(
                name,
                len(own),
                sum(each.ready for each in own),
                sum(each.state is Doing.succeeded for each in own),
                sum(each.state is Doing.failed for each in own),
                f"{waiting} waiting for pservers" if waiting else None,
            )
        )
    return tuple(found)


def _worker(replica: Replica, process: Process | None, stage: Stage) -> Worker:
    state = _doing(replica, stage)
    address = process.listens[0][0] if process is not None and process.listens else None
    ended = replica.step is Step.ended
    told = ending(replica.code, replica.why) if state is Doing.failed else None
    code = replica.code if ended else None
    return Worker(
        replica.name,
        replica.role,
        replica.replica,
        state,
        ready=replica.ready and replica.step is Step.running,
        reason=_reason(state, code),
        node=os.uname().nodename,
        address=address,
        restarts=replica.attempt - 1,
        started=replica.started,
        finished=replica.finished,
        code=code,
        message=told or None,
    )


def _doing(replica: Replica, stage: Stage) -> Doing:
    """How far a replica is; those that were ended with their run did not fail."""
    if replica.step is not Step.ended:
        if stage.is_over:
            return Doing.unknown if stage is Stage.lost else Doing.stopped
        return Doing.running if replica.step is Step.running else Doing.waiting
    if replica.why == _STOPPED:
        return Doing.stopped
    return Doing.failed if replica.code else Doing.succeeded


def _reason(state: Doing, code: int | None) -> str | None:
    """One word for how a process failed."""
    if state is not Doing.failed or code is None:
        return None
    return "Signal" if exit_code.signalled(code) > 128 else "Error"
