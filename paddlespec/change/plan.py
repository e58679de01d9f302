"""
A plan: the approval of a comparison rather than a payload.

It consists of digests. The apply that follows renders and decides again, and refuses unless its
steps are exactly those that were approved. What a cluster merely reports, such as a status, is not
included.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import bundled
from paddlespec.change.diff import Operation
from paddlespec.render.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.change.diff import Comparison, Row
    from paddlespec.render.manifest import Manifest

API_VERSION, KIND = "paddlespec.io/v1", "Plan"
_DIGEST = 24


class ObjectPlan(NamedTuple):
    """The approval for one object: digests of it before and after, and its identity."""

    operation: str
    before: str | None
    after: str | None
    uid: str | None = None
    generation: int | None = None


class JobPlan(NamedTuple):
    """The approval for one job: `run` is its last run, `step` how a new one begins, if at all."""

    job: str
    namespace: str | None
    server: str | None
    step: str | None
    run: str | None
    objects: dict[str, ObjectPlan]


class Plan(NamedTuple):
    """The approval for all jobs of a command, and the arguments of that command."""

    jobs: tuple[JobPlan, ...]
    invocation: dict[str, Any]


def of(comparison: Comparison) -> JobPlan:
    """Return the approval of what *comparison* shows."""
    basis = comparison.basis or {}
    known = basis.get("objects", {})
    objects = {
        str(row.change.identity): _object(row, known.get(str(row.change.identity), {}))
        for row in comparison.rows
    }
    return JobPlan(
        comparison.job,
        comparison.namespace,
        basis.get("server"),
        basis.get("step"),
        basis.get("run"),
        objects,
    )


def moved(approved: JobPlan, now: JobPlan) -> Iterator[str]:
    """Yield the differences from what was approved, as clauses."""
    if (approved.server, approved.namespace) != (now.server, now.namespace):
        yield f"it was made for namespace {approved.namespace} at {approved.server}"
        return
    if approved.run != now.run:
        last = f"run {now.run} was started" if now.run else "its last run was deleted"
        yield f"{last} after the plan was made"
    if approved.step != now.step:
        yield f"the job would {_step(now.step)}; the plan says it would {_step(approved.step)}"
    for name in dict.fromkeys([*approved.objects, *now.objects]):
        yield from _object_moved(name, approved.objects.get(name), now.objects.get(name))


def dump(plan: Plan) -> str:
    """Return *plan* as text."""
    jobs = [{**job._asdict(), "objects": _objects(job)} for job in plan.jobs]
    whole = {"apiVersion": API_VERSION, "kind": KIND, "invocation": plan.invocation, "jobs": jobs}
    return json.dumps(whole, indent=2) + "\n"


def parse(text: str) -> Plan:
    """Read what `dump` wrote; raises `ValueError` for anything else."""
    data = _shape().read(text)
    if (data["apiVersion"], data["kind"]) != (API_VERSION, KIND):
        raise ValueError("not a plan")
    jobs = [
        JobPlan(
            job["job"],
            job["namespace"],
            job["server"],
            job["step"],
            job["run"],
            {name: ObjectPlan(**fields) for name, fields in job["objects"].items()},
        )
        for job in data["jobs"]
    ]
    return Plan(tuple(jobs), dict(data["invocation"]))


def _shape() -> Shape:
    return Shape(json.loads(bundled.text("schemas", "output", "plan.v1.json")))


def _object(row: Row, known: dict[str, Any]) -> ObjectPlan:
    change = row.change
    return ObjectPlan(
        change.operation.value,
        _digest(change.before),
        _digest(change.after),
        known.get("uid"),
        known.get("generation"),
    )


def _digest(manifest: Manifest | None) -> str | None:
    from hashlib import sha256

    if manifest is None:
        return None
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:_DIGEST]


def _object_moved(name: str, approved: ObjectPlan | None, now: ObjectPlan | None) -> Iterator[str]:
    if approved is None or now is None:
        known = now or approved
        assert known is not None
        if known.operation != Operation.keep.value:
            yield f"{name} is {'not in the plan' if approved is None else 'only in the plan'}"
        return
    if approved.uid != now.uid:
        event = "created" if approved.uid is None else "deleted or replaced"
        yield f"{name} was {event} after the plan was made"
    elif approved.before != now.before or approved.generation != now.generation:
        yield f"{name} was changed after the plan was made"
    if approved.after != now.after and approved.before == now.before:
        yield f"{name} would not become what the plan shows"


def _step(step: str | None) -> str:
    return {"create": "begin a run", "replace": "be replaced"}.get(step or "", "stay")


def _objects(job: JobPlan) -> dict[str, dict[str, Any]]:
    return {name: approved._asdict() for name, approved in job.objects.items()}
