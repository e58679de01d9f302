"""`diff`: what would change, and the plan that approves it."""

from __future__ import annotations

from typing import Annotated, Any

from typing_extensions import NotRequired

from paddlespec.diff import Effect, Operation
from paddlespec.shapes.base import Count, Shape, one_of

_Operation = Annotated[
    str,
    one_of(
        Operation,
        keep="It stays as it is.",
        create="It comes.",
        change="It changes in place.",
        replace="It goes, and comes again.",
        delete="It goes.",
    ),
]
_Effect = Annotated[
    str,
    one_of(
        Effect,
        in_place="The field can change at any time.",
        suspended="The field can change while the job is suspended.",
        replacement="The object has to be replaced.",
    ),
]


class Counts(Shape):
    """How many objects there are of each operation."""

    keep: Count
    """Objects that stay as they are."""
    create: Count
    """Objects that come."""
    change: Count
    """Objects that change in place."""
    replace: Count
    """Objects that go and come again."""
    delete: Count
    """Objects that go."""
    uncompared: Count
    """Objects that could not be compared; each is among the others too."""


class Resources(Shape):
    """What is asked of the cluster besides; negative where it is asked no longer."""

    accelerators: int | float
    """Devices."""
    cpu: int | float
    """Cores."""
    memory: int | float
    """Bytes."""


class Fact(Shape):
    """One thing that a job takes or is, for people."""

    name: str
    """What it is, such as `replicas of trainers`."""
    before: str | None
    """As it was."""
    after: str | None
    """As it would be."""
    change: str | None
    """The signed difference of numbers."""


class FieldChange(Shape):
    """One field that would change; secrets are hidden."""

    path: str
    """Where it is; items of lists that have names are in brackets by name."""
    before: NotRequired[Any]
    """Its value; the key is absent where there was none."""
    after: NotRequired[Any]
    """Its value to be; the key is absent where there is none."""
    effect: _Effect
    """What it takes to change it."""


class ObjectChange(Shape):
    """One object, and what would happen to it."""

    apiVersion: str
    """As in its manifest."""
    kind: str
    """As in its manifest."""
    namespace: str | None
    """Its namespace; null for what is in none."""
    name: str
    """Its name."""
    operation: _Operation
    """What would happen to it."""
    problem: str | None
    """Why it could not be compared."""
    fields: list[FieldChange]
    """The fields that differ, where it is there before and after."""
    object: NotRequired[dict[str, Any]]
    """The whole manifest of an object that comes, secrets hidden."""


class JobChanges(Shape):
    """One job before and after."""

    job: str
    """Its name."""
    namespace: str | None
    """Its namespace; null if neither the spec nor an option names one."""
    against: str
    """What it was compared with."""
    differs: bool
    """Whether anything of it would change."""
    notes: list[str]
    """What no object shows."""
    refusal: str | None
    """Why an apply would not do this."""
    summary: list[Fact]
    """What changes of it, for people."""
    objects: list[ObjectChange]
    """Its objects, those that stay too."""


class Changes(Shape):
    """What `diff` shows."""

    plan: str
    """The sum in words."""
    differs: bool
    """Whether anything would change."""
    counts: Counts
    """How many objects come, change and go."""
    resources: Resources
    """What is asked of the cluster besides."""
    jobs: list[JobChanges]
    """Each job that was compared."""


class Invocation(Shape):
    """How the command was called, as far as that shapes what is applied."""

    paths: list[str]
    """The specs."""
    overlay: list[str]
    """The overlays."""
    profile: str | None
    """The profile."""
    update: list[str]
    """The updates, without those that hold a secret."""
    target: str | None
    """The target."""
    datacenter: str | None
    """The datacenter."""
    namespace: str | None
    """The namespace."""
    templates: str | None
    """The folder of templates."""
    agreed: list[str]
    """What the person agreed to: `replace`, `rerun`, `no-prune`."""
    withheld: list[str]
    """The paths of the updates that hold a secret: whoever applies gives them again."""


class PlannedObject(Shape):
    """What was approved for one object; digests stand for manifests."""

    operation: _Operation
    """What is to happen to it."""
    before: str | None
    """The digest of what it was; null if it was not there."""
    after: str | None
    """The digest of what it is to be; null if it goes."""
    uid: str | None
    """The UID of what was there."""
    generation: int | None
    """The generation of what was there."""


class PlannedJob(Shape):
    """What was approved for one job."""

    job: str
    """Its name."""
    namespace: str | None
    """Its namespace."""
    server: str | None
    """The address of the API server."""
    step: str | None
    """What becomes of its run: `create`, `replace`, or null where it stays."""
    run: str | None
    """The number and UID of its last run."""
    objects: dict[str, PlannedObject]
    """Its objects by kind and name, as in `Job/fit-trainer`."""


class Plan(Shape):
    """What `diff --out` writes and `apply --plan` keeps to: an approval, and no payload."""

    apiVersion: str
    """`paddlespec.io/v1`."""
    kind: str
    """`Plan`."""
    invocation: Invocation
    """How the command was called."""
    jobs: list[PlannedJob]
    """What was approved."""
