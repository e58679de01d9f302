"""The state of a job with its cause: which rules are worth to be asked about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cluster import readiness
from paddlespec.cluster.wanted import is_job, is_owner
from paddlespec.cluster.why import rules
from paddlespec.cluster.why.evidence import Evidence
from paddlespec.cluster.why.together import behind
from paddlespec.manifest import role
from paddlespec.picture import Stage

if TYPE_CHECKING:
    from paddlespec.cluster.jobs import Found
    from paddlespec.cluster.why.evidence import Ask
    from paddlespec.cluster.why.reason import Reason
    from paddlespec.manifest import Manifest
    from paddlespec.picture import JobState

    Told = tuple[JobState, tuple[str, ...]]


def explained(job: JobState, found: Found, ask: Ask) -> Told:
    """*job* with why it is as it is, and what shows that."""
    match job.stage:
        case Stage.queued | Stage.suspended:
            return _with(job, _held(job, found, ask))
        case Stage.pending | Stage.running:
            return _hindered(job, found, ask)
        case Stage.failing | Stage.failed:
            return _with(job, _ended(job, found, ask))
        case _:
            return job, ()


def _with(job: JobState, reason: Reason | None) -> Told:
    return (job._replace(why=reason.sentence), reason.evidence) if reason else (job, ())


def _held(job: JobState, found: Found, ask: Ask) -> Reason | None:
    owner = found.owner
    return rules.first(rules.HELD, _of(job, found, owner, ask)) if owner else None


def _hindered(job: JobState, found: Found, ask: Ask) -> Told:
    """Each role for itself; a job that runs is told only of what keeps all of it."""
    looks = {role(each) or "": _of(job, found, each, ask) for each in found.workloads}
    lacking = [each.name for each in job.roles if each.ready + each.succeeded < each.desired]
    reasons = {
        name: reason
        for name in lacking
        if name in looks and (reason := rules.first(rules.HINDERED, looks[name]))
    }
    roles = tuple(
        each._replace(why=reasons[each.name].sentence) if each.name in reasons else each
        for each in job.roles
    )
    job = job._replace(roles=roles)
    if job.stage is Stage.pending:
        first = next(iter(reasons.values()), None)
        return _with(job, behind(first, reasons.get("pservers")) if first else None)
    trainers = looks.get("trainers")
    idle = rules.first(rules.IDLE, trainers) if trainers else None
    if idle is None:
        return job, next((each.evidence for each in reasons.values()), ())
    cause = reasons.get("trainers")
    if cause is None:
        return _with(job, idle)
    return _with(job, idle._replace(evidence=(*idle.evidence, *cause.evidence)))


def _ended(job: JobState, found: Found, ask: Ask) -> Reason | None:
    """Of the workload that failed: where both did, the trainers' end is the job's."""
    bad = [each for each in found.workloads if is_job(each) and not readiness.job(each).ok]
    for each in sorted(bad, key=lambda each: not is_owner(each)):
        if reason := rules.first(rules.ENDED, _of(job, found, each, ask, over=True)):
            return reason
    return None


def _of(
    job: JobState, found: Found, workload: Manifest, ask: Ask, *, over: bool = False
) -> Evidence:
    """What there is of one role; of what is *over* also the pods that are about to go."""
    own = role(workload)
    pods = tuple(
        each
        for each in found.pods or ()
        if role(each) == own and (over or not readiness.is_going(each)) and _belongs(each, workload)
    )
    return Evidence(found.namespace, own or "", workload, pods, ask, job.mode)


def _belongs(pod: Manifest, workload: Manifest) -> bool:
    """Whether a pod is of this run of the job, not of one before it."""
    owners = {each.get("uid") for each in pod["metadata"].get("ownerReferences") or ()}
    return workload["metadata"]["uid"] in owners
