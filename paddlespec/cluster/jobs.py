"""
The jobs of a cluster as the picture that all targets share.

However many there are, it takes the same few requests: lists by label, put together here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import OperationFailed, Run, Work
from paddlespec.cluster import readiness
from paddlespec.cluster.inventory import INVENTORY_LABEL, Inventory, history_of
from paddlespec.cluster.past import ended
from paddlespec.cluster.records import seen, unknown
from paddlespec.cluster.replicas import workers
from paddlespec.cluster.wanted import belongs_to, is_job, is_owner
from paddlespec.history import History, RunRecord, State
from paddlespec.manifest import JOB_LABEL, Manifest, role
from paddlespec.picture import JobState, RoleState, Stage, Status, stage_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.client import Client

    Unread = tuple[str, OperationFailed]
    Key = tuple[str, str]

TARGET = "kubernetes"
_JOB, _SET = ("batch/v1", "Job"), ("apps/v1", "StatefulSet")
_QUEUE = "kueue.x-k8s.io/queue-name"
# The variable of each mode that no other one sets.
_MODES = {
    "PADDLE_INIT_PORT": "legacy",
    "PADDLE_PSERVERS_IP_PORT_LIST": "ps",
    "PADDLE_NNODES": "collective",
    "PADDLESPEC_INDEX": "parallel",
}


class Found(NamedTuple):
    """What a cluster holds of one job; `pods` where they were looked for."""

    name: str
    namespace: str
    workloads: tuple[Manifest, ...] = ()
    pods: tuple[Manifest, ...] | None = None
    history: History = History()

    @property
    def owner(self) -> Manifest | None:
        """The Job whose end is the job's end."""
        return next((each for each in self.workloads if is_owner(each)), None)

    @property
    def record(self) -> RunRecord | None:
        """The run that is there, or the latest one."""
        uid = self.owner["metadata"]["uid"] if self.owner else None
        own = next((each for each in self.history.runs if uid and each.uid == uid), None)
        return own or self.history.latest


def job_states(
    client: Client, *, everywhere: bool, over: bool
) -> tuple[list[JobState], list[Unread]]:
    """
    The jobs of every namespace or of ours, and what cannot be read of them.

    Of those that are *over* more is read: their specs are all that is left of some.
    """
    space = "" if everywhere else client.namespace
    asked = [(*_JOB, JOB_LABEL), (*_SET, JOB_LABEL), ("v1", "ConfigMap", INVENTORY_LABEL)]
    jobs, sets, inventories = client.each(
        lambda each: client.find(*each[:2], space, each[2]), asked
    )
    workloads: dict[Key, list[Manifest]] = {}
    for each in (*jobs, *sets):
        key = each["metadata"]["namespace"], belongs_to(each) or ""
        workloads.setdefault(key, []).append(each)
    histories, failures = {}, []
    for each in inventories:
        key = each["metadata"]["namespace"], each["metadata"]["labels"][INVENTORY_LABEL]
        try:
            histories[key] = history_of(each)
        except OperationFailed as error:
            failures.append((key[1], error))
    found = []
    for key in sorted({*workloads, *histories}):
        if key not in workloads and not over and not _is_intended(histories[key]):
            continue
        found.append(state(gathered(key, workloads.get(key, []), histories.get(key))))
    return [each for each in found if over or not each.stage.is_over], failures


def find(client: Client, name: str) -> Found:
    """What there is of one job; raises `NotFound`."""
    selector = f"{JOB_LABEL}={name}"
    inventory = Inventory(client, client.namespace, name)
    kinds = (_JOB, _SET, ("v1", "Pod"))
    jobs, sets, pods = client.each(
        lambda each: client.find(*each, client.namespace, selector), kinds
    )
    history = inventory.read()
    if inventory.live is None and not (jobs or sets or pods):
        raise unknown(client, name)
    return gathered((client.namespace, name), [*jobs, *sets], history, pods)


def glance(client: Client, name: str) -> Status:
    """A job and its replicas; raises `NotFound`."""
    found = find(client, name)
    return Status(state(found), found.record, workers(found.pods or ()))


def run_of(client: Client, name: str) -> Run | None:
    """The run of a job, to be looked at; nothing before it is there. Raises `NotFound`."""
    found = find(client, name)
    record = found.record
    if found.owner is not None:
        return Run(
            Work(name, list(found.workloads)), found.namespace, found.owner["metadata"]["uid"]
        )
    if record is None or record.uid is None:
        return None
    end = State.lost if record.state is State.running else record.state
    return Run(Work(name, []), found.namespace, record.uid, end)


def gathered(
    key: Key,
    workloads: list[Manifest],
    history: History | None,
    pods: list[Manifest] | None = None,
) -> Found:
    """The parts of one job together; its history as it is by now."""
    namespace, name = key
    owner = next((each for each in workloads if is_owner(each)), None)
    ordered = tuple(sorted(workloads, key=lambda each: not is_owner(each)))
    known = None if pods is None else tuple(pods)
    told = seen(history, owner) if history is not None and history.runs else History()
    return Found(name, namespace, ordered, known, told)


def state(found: Found) -> JobState:
    """How far a job is."""
    owner, record = found.owner, found.record
    spec: Mapping[str, Any] = {}
    if owner is None or _needs_spec(owner):
        spec = _spec(record)
    mode = _mode(owner) or (spec.get("spec") or {}).get("mode")
    stage, why = _stage(found, mode)
    labels = dict((spec.get("metadata") or {}).get("labels") or {}, **{JOB_LABEL: found.name})
    started = record.started if record else None
    finished = record.finished if record else None
    if owner is not None:
        labels = owner["metadata"].get("labels") or {}
        started = (owner.get("status") or {}).get("startTime") or started
        finished = ended(owner) if readiness.job(owner).done else None
    scheduling = (spec.get("spec") or {}).get("scheduling") or {}
    return JobState(
        found.name,
        found.namespace,
        TARGET,
        stage,
        mode,
        tuple(map(_role, found.workloads)) or _roles_of(spec),
        why,
        labels.get(_QUEUE) or scheduling.get("queue"),
        started,
        finished,
        record.number if record else None,
        record.provenance.who if record else None,
        labels,
    )


def _stage(found: Found, mode: str | None) -> tuple[Stage, str | None]:
    owner, record = found.owner, found.record
    if owner is None:
        if found.workloads or found.pods:
            return Stage.stopping, None
        return (Stage.lost, None) if record is None else (stage_of(record), None)
    progress = readiness.job(owner)
    if progress.done:
        if progress.ok:
            return Stage.succeeded, None
        return Stage.failed, progress.message.removeprefix("failed: ")
    if readiness.is_going(owner) or (record is not None and record.state is State.killed):
        return Stage.stopping, None
    if not progress.ok:
        return Stage.failing, progress.message.removeprefix("failing: ")
    if owner["spec"].get("suspend"):
        return (Stage.queued if progress.message == "queued" else Stage.suspended), None
    if why := _lost(found, mode):
        return Stage.failing, why
    status = owner.get("status") or {}
    begun = status.get("ready") or status.get("succeeded")
    return (Stage.running if begun else Stage.pending), None


def _lost(found: Found, mode: str | None) -> str | None:
    """A lost pserver loses the model, and the trainers would not tell."""
    own = [each for each in found.workloads if role(each) == "pservers"]
    if not own:
        return "the pservers are gone while the trainers run" if mode == "ps" else None
    looks = [readiness.job(each) for each in own if is_job(each)]
    bad = next((each for each in looks if not each.ok), None)
    return f"pservers: {bad.message.removeprefix('failed: ')}" if bad else None


def _role(workload: Manifest) -> RoleState:
    spec, status = workload["spec"], workload.get("status") or {}
    name = role(workload) or ""
    if not is_job(workload):
        return RoleState(name, spec.get("replicas", 1), status.get("readyReplicas", 0))
    desired = spec.get("completions", spec.get("parallelism", 1))
    return RoleState(
        name,
        desired,
        status.get("ready", 0),
        status.get("succeeded", 0),
        status.get("failed", 0),
    )


def _roles_of(spec: Mapping[str, Any]) -> tuple[RoleState, ...]:
    """The roles of a job of which only its spec is left."""
    said = spec.get("spec") or {}
    found = ((name, said.get(name)) for name in ("trainers", "pservers"))
    return tuple(RoleState(name, each.get("replicas", 1)) for name, each in found if each)


def _mode(owner: Manifest | None) -> str | None:
    if owner is None:
        return None
    containers = owner["spec"]["template"]["spec"].get("containers") or ()
    names = {each.get("name") for one in containers for each in one.get("env") or ()}
    return next((mode for name, mode in _MODES.items() if name in names), None)


def _needs_spec(owner: Manifest) -> bool:
    """Whether the objects do not say in which queue the job is: Volcano's have that elsewhere."""
    return bool(owner["spec"]["template"]["spec"].get("schedulerName") == "volcano")


def _spec(record: RunRecord | None) -> Mapping[str, Any]:
    """The spec of a run, as far as it is kept."""
    if record is None or record.spec is None:
        return {}
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found = yaml.load(record.spec, loader)  # noqa: S506 - a safe one
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_intended(history: History) -> bool:
    return history.latest is not None and history.latest.state is State.intended
