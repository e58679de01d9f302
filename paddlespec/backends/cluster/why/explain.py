"""Explain the state of a job: choose the rules that apply to it, and add the cause they find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.backends.cluster.why import rules
from paddlespec.backends.cluster.why.evidence import Evidence
from paddlespec.backends.cluster.why.together import behind
from paddlespec.render.manifest import role
from paddlespec.runs.state import Stage

if TYPE_CHECKING:
    from paddlespec.backends.cluster.observe.job_states import JobObjects
    from paddlespec.backends.cluster.why.evidence import Ask
    from paddlespec.backends.cluster.why.reason import Reason
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.state import JobState

    # The state with its reason, and the evidence for it.
    Explained = tuple[JobState, tuple[str, ...]]


def explained(job: JobState, live: JobObjects, ask: Ask) -> Explained:
    """Return *job* with the reason for its state, and the evidence for that reason."""
    match job.stage:
        case Stage.queued | Stage.suspended:
            return _with(job, _held(job, live, ask))
        case Stage.pending | Stage.running:
            return _hindered(job, live, ask)
        case Stage.failing | Stage.failed:
            return _with(job, _ended(job, live, ask))
        case _:
            return job, ()


def _with(job: JobState, reason: Reason | None) -> Explained:
    return (job._replace(why=reason.sentence), reason.evidence) if reason else (job, ())


def _held(job: JobState, live: JobObjects, ask: Ask) -> Reason | None:
    owner = live.owner
    if owner is None:
        return None
    return rules.first(rules.HELD, _of(job, live, "trainers", owner, ask))


def _hindered(job: JobState, live: JobObjects, ask: Ask) -> Explained:
    """Explain each role; a running job gets a reason of its own only if all of it is stuck."""
    looks = {name: _of(job, live, name, runner, ask) for name, runner in live.runners.items()}
    lacking = [state.name for state in job.roles if state.ready + state.succeeded < state.desired]
    reasons = {
        name: reason
        for name in lacking
        if name in looks and (reason := rules.first(rules.HINDERED, looks[name]))
    }
    roles = tuple(
        role._replace(why=reasons[role.name].sentence) if role.name in reasons else role
        for role in job.roles
    )
    job = job._replace(roles=roles)
    if job.stage is Stage.pending:
        first = next(iter(reasons.values()), None)
        return _with(job, behind(first, reasons.get("pservers")) if first else None)
    trainers = looks.get("trainers")
    idle = rules.first(rules.IDLE, trainers) if trainers else None
    if idle is None:
        return job, next((reason.evidence for reason in reasons.values()), ())
    cause = reasons.get("trainers")
    if cause is None:
        return _with(job, idle)
    return _with(job, idle._replace(evidence=(*idle.evidence, *cause.evidence)))


def _ended(job: JobState, live: JobObjects, ask: Ask) -> Reason | None:
    """Explain the failed workload; if several failed, the trainers' failure is the job's."""
    bad = [
        (name, runner)
        for name, runner in live.runners.items()
        if workloads.ends(runner) and not workloads.progress(runner).ok
    ]
    for name, runner in sorted(bad, key=lambda pair: pair[0] != "trainers"):
        if reason := rules.first(rules.ENDED, _of(job, live, name, runner, ask, over=True)):
            return reason
    return None


def _of(
    job: JobState, live: JobObjects, name: str, workload: Manifest, ask: Ask, *, over: bool = False
) -> Evidence:
    """Collect the evidence for one role; *over* includes pods that are being deleted."""
    pods = tuple(
        pod
        for pod in live.pods or ()
        if role(pod) == name and (over or not workloads.is_going(pod)) and _belongs(pod, workload)
    )
    return Evidence(live.namespace, name, workload, pods, ask, job.mode)


def _belongs(pod: Manifest, workload: Manifest) -> bool:
    """Report whether a pod belongs to this run of the job rather than an earlier one."""
    owners = {owner.get("uid") for owner in pod["metadata"].get("ownerReferences") or ()}
    return workload["metadata"]["uid"] in owners
