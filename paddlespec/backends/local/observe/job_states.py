"""The state of jobs on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from paddlespec.backends.local.observe.progress import failure
from paddlespec.backends.local.store.job_folder import JobFolder, jobs, known_job
from paddlespec.backends.local.store.run_state import STOPPED, Phase, Step
from paddlespec.backends.local.supervisor.verdict import ending
from paddlespec.runs import exit_code
from paddlespec.runs.failures import NotFound, OperationFailed
from paddlespec.runs.state import (
    JobState,
    RoleState,
    Stage,
    Status,
    Worker,
    WorkerState,
    in_order,
    stage_of,
)
from paddlespec.runs.values import Run, Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.local.store.launch import Process
    from paddlespec.backends.local.store.run_state import Replica
    from paddlespec.backends.local.store.run_state import Status as RunState
    from paddlespec.runs.history import RunRecord

    Unread = tuple[str, OperationFailed]

TARGET = "local"
# The reason a supervisor records for replicas that it stopped with the run.


def job_states(
    namespace: str, environment: Mapping[str, str] = os.environ, *, everywhere: bool, over: bool
) -> tuple[list[JobState], list[Unread]]:
    """Return the jobs of one namespace or of all, finished ones if *over*, and unreadable ones."""
    states, failures = [], []
    for folder in jobs(environment):
        if everywhere or folder.namespace == namespace:
            try:
                states.append(_look(folder).job)
            except OperationFailed as error:
                failures.append((folder.name, error))
    return [state for state in states if over or not state.stage.is_over], failures


def status(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> Status:
    """Return everything about one job; raise `NotFound`."""
    return _look(known_job(namespace, name, environment))


def run_of(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> Run | None:
    """Return the latest run of a job; None until it has started."""
    record = status(namespace, name, environment).record
    if record is None or record.uid is None:
        return None
    return Run(Work(name, []), namespace, record.uid)


def process_of(
    namespace: str, name: str, replica: str, environment: Mapping[str, str] = os.environ
) -> Process:
    """Return how the process of *replica* was started; raise `NotFound`."""
    folder = JobFolder(namespace, name, environment)
    record = folder.history().latest
    launch = folder.launch(record.number) if record is not None else None
    for process in launch.processes if launch is not None else ():
        if process.name == replica:
            return process
    raise NotFound(f"this machine no longer knows replica {replica} of {name}")


def _look(folder: JobFolder) -> Status:
    history = folder.history()
    record = history.latest
    if record is None:
        stage = Stage.intended if folder.alive() else Stage.lost
        return Status(JobState(folder.name, folder.namespace, TARGET, stage))
    state = folder.status(record.number)
    launch = folder.launch(record.number)
    places = {process.name: process for process in launch.processes} if launch else {}
    stage = _stage(record, state)
    replicas = state.replicas if state else ()
    shown = [_worker(replica, places.get(replica.name), stage) for replica in replicas]
    workers = tuple(in_order(shown))
    job = _job(folder, record, stage, state, workers)
    failed = state is not None and state.phase is Phase.failed
    error = failure(state) if state is not None and failed else None
    reason = "\n".join(error.lines) if error is not None else None
    return Status(job, record, workers, failure=reason)


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
    """Return the manifest of a run that describes the whole job."""
    rehearsals = (
        manifest for manifest in folder.manifests(number) if manifest.get("kind") == "Rehearsal"
    )
    return next(rehearsals, {})


def _stage(record: RunRecord, state: RunState | None) -> Stage:
    """Return the stage of a run; a run that is being stopped still has processes."""
    if state is None or record.is_over:
        goes_on = state is not None and not state.phase.is_over
        return Stage.stopping if goes_on else stage_of(record)
    if state.phase is not Phase.running:
        return Stage(state.phase.value)
    trainers = [replica for replica in state.replicas if replica.role == "trainers"]
    begun = any(replica.step is not Step.waiting for replica in trainers)
    return Stage.running if begun else Stage.pending


def _roles(workers: tuple[Worker, ...]) -> tuple[RoleState, ...]:
    roles = []
    for name in dict.fromkeys(worker.role for worker in workers):
        own = [worker for worker in workers if worker.role == name]
        waiting = sum(worker.state is WorkerState.waiting for worker in own)
        roles.append(
            RoleState(
                name,
                len(own),
                sum(worker.ready for worker in own),
                sum(worker.state is WorkerState.succeeded for worker in own),
                sum(worker.state is WorkerState.failed for worker in own),
                f"{waiting} waiting for pservers" if waiting else None,
            )
        )
    return tuple(roles)


def _worker(replica: Replica, process: Process | None, stage: Stage) -> Worker:
    state = _worker_state(replica, stage)
    address = process.listens[0][0] if process is not None and process.listens else None
    ended = replica.step is Step.ended
    message = ending(replica.code, replica.why) if state is WorkerState.failed else None
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
        message=message or None,
    )


def _worker_state(replica: Replica, stage: Stage) -> WorkerState:
    """Return the state of a replica; those that were stopped with their run did not fail."""
    if replica.step is not Step.ended:
        if stage.is_over:
            return WorkerState.unknown if stage is Stage.lost else WorkerState.stopped
        return WorkerState.running if replica.step is Step.running else WorkerState.waiting
    if replica.why == STOPPED:
        return WorkerState.stopped
    return WorkerState.failed if replica.code else WorkerState.succeeded


def _reason(state: WorkerState, code: int | None) -> str | None:
    """Return one word for how a process failed."""
    if state is not WorkerState.failed or code is None:
        return None
    return "Signal" if exit_code.signalled(code) > 128 else "Error"
