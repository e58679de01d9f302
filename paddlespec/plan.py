"""
A plan: the approval of what a comparison showed, and no payload.

It holds digests, so that the apply that follows renders and compares again and can tell whether it
would do exactly what was approved. What a cluster only reports, such as a status, is no part of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diff import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.diff import Comparison, Row
    from paddlespec.manifest import Manifest

API_VERSION, KIND = "paddlespec.io/v1", "Plan"
_DIGEST = 24


class ObjectPlan(NamedTuple):
    """What was approved for one object: digests of what it was, and of what it is to be."""

    operation: str
    before: str | None
    after: str | None
    uid: str | None = None
    generation: int | None = None


class JobPlan(NamedTuple):
    """What was approved for one job: `run` is its past, `step` what becomes of it."""

    job: str
    namespace: str | None
    server: str | None
    step: str | None
    run: str | None
    objects: dict[str, ObjectPlan]


class Plan(NamedTuple):
    """Jobs by place and name, and how the command was called that made the plan."""

    jobs: tuple[JobPlan, ...]
    invocation: dict[str, Any]


def of(comparison: Comparison) -> JobPlan:
    """The approval of what *comparison* shows."""
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
    """What is otherwise than it was approved, in words."""
    if (approved.server, approved.namespace) != (now.server, now.namespace):
        yield f"it was made for namespace {approved.namespace} at {approved.server}"
        return
    if approved.run != now.run:
        yield f"its last run is {now.run or 'unknown'}, and was {approved.run or 'unknown'}"
    if approved.step != now.step:
        yield f"it would {_step(now.step)}, and would have had to {_step(approved.step)}"
    for name in [
        *approved.objects,
        *(each for each in now.objects if each not in approved.objects),
    ]:
        yield from _object_moved(name, approved.objects.get(name), now.objects.get(name))


def dump(plan: Plan) -> str:
    """*plan* as text."""
    jobs = [{**each._asdict(), "objects": _objects(each)} for each in plan.jobs]
    whole = {"apiVersion": API_VERSION, "kind": KIND, "invocation": plan.invocation, "jobs": jobs}
    return json.dumps(whole, indent=2) + "\n"


def parse(text: str) -> Plan:
    """What `dump` wrote; raises `ValueError` for what is no plan."""
    try:
        data = json.loads(text)
        if (data["apiVersion"], data["kind"]) != (API_VERSION, KIND):
            raise ValueError("another kind of document")
        jobs = [
            JobPlan(
                each["job"],
                each["namespace"],
                each["server"],
                each["step"],
                each["run"],
                {name: ObjectPlan(**found) for name, found in each["objects"].items()},
            )
            for each in data["jobs"]
        ]
        return Plan(tuple(jobs), dict(data["invocation"]))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a plan") from error


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
        found = now or approved
        assert found is not None
        if found.operation != Operation.keep.value:
            yield f"{name}: was {'not ' if approved is None else ''}there when the plan was made"
        return
    if approved.uid != now.uid:
        words = "was created" if approved.uid is None else "was deleted or replaced"
        yield f"{name}: {words} in between"
    elif approved.before != now.before or approved.generation != now.generation:
        yield f"{name}: was changed in between"
    if approved.after != now.after and approved.before == now.before:
        yield f"{name}: would become another one than was shown"


def _step(step: str | None) -> str:
    return {"create": "be created", "replace": "be replaced"}.get(step or "", "stay")


def _objects(job: JobPlan) -> dict[str, dict[str, Any]]:
    return {name: each._asdict() for name, each in job.objects.items()}
