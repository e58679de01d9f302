"""
Read the state of jobs on a cluster.

Any number of jobs takes the same few requests: lists by label, which are combined here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.change.desired import belongs_to
from paddlespec.backends.cluster.change.history_sync import ended
from paddlespec.backends.cluster.change.inventory import (
    INVENTORY_LABEL,
    Inventory,
    history_of,
    unknown,
)
from paddlespec.backends.cluster.observe import members
from paddlespec.backends.cluster.observe.histories import seen
from paddlespec.backends.cluster.observe.replicas import workers
from paddlespec.render import shape
from paddlespec.render.manifest import JOB_LABEL, Manifest, role
from paddlespec.render.roles import PADDLE
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import History, RunRecord, State
from paddlespec.runs.state import (
    JobState,
    RoleState,
    Stage,
    Status,
    stage_of,
)
from paddlespec.runs.values import Run, Work
from paddlespec.workloads.live import QUEUE_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.api.client import Client

    Unread = tuple[str, OperationFailed]
    Key = tuple[str, str]

_DEFAULT_TARGET = "kubernetes"
# For each mode, a variable that no other mode sets.
_MODES = {
    "PADDLE_INIT_PORT": "legacy",
    "PADDLE_PSERVERS_IP_PORT_LIST": "ps",
    "PADDLE_NNODES": "collective",
    "PADDLESPEC_INDEX": "parallel",
}


class JobObjects(NamedTuple):
    """
    The objects of one job on a cluster; `pods` is None if they were not read.

    `children` were created by the controllers of its `workloads`.
    """

    name: str
    namespace: str
    workloads: tuple[Manifest, ...] = ()
    pods: tuple[Manifest, ...] | None = None
    history: History = History()
    children: tuple[Manifest, ...] = ()

    @property
    def owner(self) -> Manifest | None:
        """The workload that ends the job when it ends."""
        return workloads.owner(self.workloads)

    @property
    def runners(self) -> dict[str, Manifest]:
        """The object that creates the pods of each role, keyed by role."""
        return {
            pods.role: workloads.runner(live, pods.role, self.children)
            for live, pods in workloads.roles(self.workloads)
        }

    @property
    def record(self) -> RunRecord | None:
        """The record of the current run, or of the latest one."""
        uid = self.owner["metadata"]["uid"] if self.owner else None
        own = next((run for run in self.history.runs if uid and run.uid == uid), None)
        return own or self.history.latest


def job_states(
    client: Client, *, everywhere: bool, over: bool
) -> tuple[list[JobState], list[Unread]]:
    """
    Return the jobs of one namespace or of all, and those that cannot be read.

    For finished jobs (*over*) more is read: of some only the recorded spec is left.
    """
    space = "" if everywhere else client.namespace
    listed = members.find(client, space, JOB_LABEL, [(members.INVENTORY, INVENTORY_LABEL)])
    present: dict[Key, list[Manifest]] = {}
    for live in listed.workloads:
        key = live["metadata"]["namespace"], belongs_to(live) or ""
        present.setdefault(key, []).append(live)
    histories, failures = {}, []
    for inventory in listed.objects[members.INVENTORY]:
        metadata = inventory["metadata"]
        key = metadata["namespace"], metadata["labels"][INVENTORY_LABEL]
        try:
            if key not in present:
                listed.check(inventory)
            histories[key] = history_of(inventory)
        except OperationFailed as error:
            failures.append((key[1], error))
    states = []
    for key in sorted({*present, *histories}):
        if key not in present and not over and not _is_intended(histories[key]):
            continue
        states.append(state(gathered(key, present.get(key, []), histories.get(key))))
    return [job for job in states if over or not job.stage.is_over], failures


def find(client: Client, name: str) -> JobObjects:
    """Return the objects of one job; raises `NotFound`."""
    selector = f"{JOB_LABEL}={name}"
    inventory = Inventory(client, client.namespace, name)
    listed = members.find(client, client.namespace, selector, [(members.POD, selector)])
    own, pods = listed.workloads, listed.objects[members.POD]
    history = inventory.read()
    if not own:
        listed.check(inventory.live)
    if inventory.live is None and not (own or pods):
        raise unknown(client, name)
    return gathered((client.namespace, name), own, history, pods)


def glance(client: Client, name: str) -> Status:
    """Return a job and its replicas; raises `NotFound`."""
    objects = find(client, name)
    return Status(state(objects), objects.record, workers(objects.pods or ()))


def run_of(client: Client, name: str) -> Run | None:
    """Return the run of a job, for `look`; None before it starts. Raises `NotFound`."""
    objects = find(client, name)
    record = objects.record
    if objects.owner is not None:
        return Run(
            Work(name, list(objects.workloads)), objects.namespace, objects.owner["metadata"]["uid"]
        )
    if record is None or record.uid is None:
        return None
    end = State.lost if record.state is State.running else record.state
    return Run(Work(name, []), objects.namespace, record.uid, end)


def gathered(
    key: Key,
    live: list[Manifest],
    history: History | None,
    pods: list[Manifest] | None = None,
) -> JobObjects:
    """Combine the objects of one job, and update its history."""
    namespace, name = key
    children = tuple(filter(workloads.is_child, live))
    own = [workload for workload in live if workload not in children]
    owner = workloads.owner(own)
    ordered = tuple(sorted(own, key=lambda workload: workload is not owner))
    known = None if pods is None else tuple(pods)
    updated = seen(history, owner) if history is not None and history.runs else History()
    return JobObjects(name, namespace, ordered, known, updated, children)


def state(objects: JobObjects) -> JobState:
    """Return the state of a job."""
    owner, record = objects.owner, objects.record
    spec: Mapping[str, Any] = {}
    if owner is None or _needs_spec(owner):
        spec = _spec(record)
    mode = _mode(owner) or (spec.get("spec") or {}).get("mode")
    stage, why = _stage(objects, mode)
    labels = dict((spec.get("metadata") or {}).get("labels") or {}, **{JOB_LABEL: objects.name})
    started = record.started if record else None
    finished = record.finished if record else None
    if owner is not None:
        labels = owner["metadata"].get("labels") or {}
        started = workloads.of(owner).started(owner) or started
        finished = ended(owner) if workloads.progress(owner).done else None
    scheduling = (spec.get("spec") or {}).get("scheduling") or {}
    roles = _roles(objects)
    return JobState(
        objects.name,
        objects.namespace,
        _target(objects),
        stage,
        mode,
        roles or _roles_of(spec, stage),
        why,
        labels.get(QUEUE_LABEL) or scheduling.get("queue"),
        started,
        finished,
        record.number if record else None,
        record.provenance.who if record else None,
        labels,
    )


def _stage(objects: JobObjects, mode: str | None) -> tuple[Stage, str | None]:
    owner, record = objects.owner, objects.record
    if owner is None:
        if objects.workloads or objects.pods:
            return Stage.stopping, None
        return (Stage.lost, None) if record is None else (stage_of(record), None)
    progress = workloads.progress(owner)
    if progress.done:
        if progress.ok:
            return Stage.succeeded, None
        return Stage.failed, progress.message.removeprefix("failed: ")
    if workloads.is_going(owner) or (record is not None and record.state is State.killed):
        return Stage.stopping, None
    if not progress.ok:
        return Stage.failing, progress.message.removeprefix("failing: ")
    if workloads.is_stopped(owner):
        return (Stage.queued if progress.message == "queued" else Stage.suspended), None
    if why := _lost(objects, mode):
        return Stage.failing, why
    return (Stage.running if _has_begun(objects) else Stage.pending), None


def _has_begun(objects: JobObjects) -> bool:
    """Report whether a trainer is ready or has succeeded; pods show it before workloads do."""
    counted = (role.ready or role.succeeded for role in _roles(objects) if role.name == "trainers")
    pods = (worker.ready for worker in workers(objects.pods or ()) if worker.role == "trainers")
    return any(counted) or any(pods)


def _lost(objects: JobObjects, mode: str | None) -> str | None:
    """Describe a lost pserver, or another role that failed: the trainers would not notice."""
    if mode == "ps" and not any(workloads.runs(live, "pservers") for live in objects.workloads):
        return "the pservers no longer exist while the trainers are running"
    for live in objects.workloads:
        if workloads.is_owner(live) or not workloads.ends(live):
            continue
        if not (progress := workloads.progress(live)).ok:
            return f"{role(live)}: {progress.message.removeprefix('failed: ')}"
    return None


def _roles(objects: JobObjects) -> tuple[RoleState, ...]:
    """Count the replicas of each role, trainers first."""
    states = [
        state
        for live in objects.workloads
        for state in workloads.of(live).counts(live, workloads.children(live, objects.children))
    ]
    return tuple(sorted(states, key=lambda role: role.name != "trainers"))


def _target(objects: JobObjects) -> str:
    """Return the target that renders the job."""
    return workloads.of(objects.owner).KIND.target if objects.owner else _DEFAULT_TARGET


def _roles_of(spec: Mapping[str, Any], stage: Stage) -> tuple[RoleState, ...]:
    """Return the roles of a job of which only the spec is left: all trainers of a success did."""
    fields = spec.get("spec") or {}
    roles = []
    named = {name: fields.get(name) for name in PADDLE} | (fields.get("roles") or {})
    for name, declared in named.items():
        if declared:
            count = declared.get("replicas", 1)
            state = RoleState(name, count, counted=not stage.is_over)
            if stage is Stage.succeeded:
                state = RoleState(name, count, succeeded=count if name == "trainers" else 0)
            roles.append(state)
    return tuple(roles)


def _mode(owner: Manifest | None) -> str | None:
    if owner is None:
        return None
    containers = _trainer(owner).get("containers") or ()
    names = {variable.get("name") for one in containers for variable in one.get("env") or ()}
    return next((mode for name, mode in _MODES.items() if name in names), None)


def _needs_spec(owner: Manifest) -> bool:
    """Report whether the objects lack the name of the queue: Volcano stores it elsewhere."""
    return bool(_trainer(owner).get("schedulerName") == "volcano")


def _trainer(owner: Manifest) -> Mapping[str, Any]:
    """Return the pod spec of a trainer."""
    pods = workloads.pods_of(owner, "trainers")
    return pods.pod if pods else {}


def _spec(record: RunRecord | None) -> Mapping[str, Any]:
    """Return the recorded spec of a run, or an empty mapping."""
    if record is None or record.spec is None:
        return {}
    from paddlespec.spec.source import read

    documents = read(record.spec, "").documents
    spec: Any = documents[0].data if documents else None
    return spec if shape.RECORDED_SPEC.wrong(spec) is None else {}


def _is_intended(history: History) -> bool:
    return history.latest is not None and history.latest.state is State.intended
