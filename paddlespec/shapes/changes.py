"""The output of `diff`: what would change, and the plan that approves it."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from paddlespec.change.diff import Effect, Operation
from paddlespec.shapes.base import Count, Shape, one_of

_Operation = Annotated[
    str,
    one_of(
        Operation,
        keep="The object is unchanged.",
        create="The object is created.",
        change="The object is updated in place.",
        replace="The object is deleted and created again.",
        delete="The object is deleted.",
    ),
]
_Effect = Annotated[
    str,
    one_of(
        Effect,
        in_place="The field can change at any time.",
        suspended="The field can change while the job is suspended.",
        replacement="The object must be replaced.",
    ),
]


class Counts(Shape):
    """The number of objects for each operation."""

    keep: Count
    """Unchanged objects."""
    create: Count
    """Objects to create."""
    change: Count
    """Objects to update in place."""
    replace: Count
    """Objects to delete and create again."""
    delete: Count
    """Objects to delete."""
    uncompared: Count
    """Objects that could not be compared; they are also counted under an operation."""
    conflicting: Count
    """Objects with fields that other managers have set; also counted under an operation."""
    refused: Count
    """Jobs whose changes an apply would refuse; their objects are counted as if it did not."""


class Resources(Shape):
    """The additional resources requested from the cluster; negative if less is requested."""

    accelerators: int | float
    """Devices."""
    cpu: int | float
    """Cores."""
    memory: int | float
    """Bytes."""


class Fact(Shape):
    """One property of a job, for people."""

    name: str
    """The property, such as `replicas of trainers`."""
    before: str | None
    """The value before."""
    after: str | None
    """The value after."""
    change: str | None
    """The signed difference, for numbers."""


class FieldChange(Shape):
    """One field that would change; secrets are hidden."""

    path: str
    """The path of the field; named list items are in brackets."""
    before: NotRequired[Any]
    """The value before; absent if there was none."""
    after: NotRequired[Any]
    """The value after; absent if there is none."""
    effect: _Effect
    """What is required to change the field."""


class ObjectChange(Shape):
    """One object, and what would happen to it."""

    apiVersion: str
    """The API version, as in the manifest."""
    kind: str
    """The kind, as in the manifest."""
    namespace: str | None
    """The namespace; null if it has none."""
    name: str
    """The name."""
    operation: _Operation
    """What would happen to the object."""
    problem: str | None
    """Why the object could not be compared."""
    conflict: str | None
    """The fields that other managers have set, and which managers."""
    fields: list[FieldChange]
    """The fields that differ, if the object exists before and after."""
    object: NotRequired[dict[str, Any]]
    """The manifest of an object to create; secrets are hidden."""


class JobChanges(Shape):
    """One job before and after."""

    job: str
    """The name of the job."""
    namespace: str | None
    """The namespace; null if neither the spec nor an option names one."""
    against: str
    """What the job was compared with."""
    differs: bool
    """Whether anything would change."""
    notes: list[str]
    """Remarks that concern no single object."""
    refusal: str | None
    """Why apply would refuse these changes."""
    summary: list[Fact]
    """What changes, for people."""
    objects: list[ObjectChange]
    """The objects of the job, including unchanged ones."""


class Changes(Shape):
    """The output of `diff`."""

    plan: str
    """The sum of all changes as text."""
    differs: bool
    """Whether anything would change."""
    counts: Counts
    """How many objects would be created, changed, replaced and deleted."""
    resources: Resources
    """The additional resources requested from the cluster."""
    jobs: list[JobChanges]
    """The compared jobs."""


class Invocation(Shape):
    """The arguments of the command that affect what is applied."""

    paths: list[str]
    """The specs."""
    overlay: list[str]
    """The overlays."""
    profile: str | None
    """The profile."""
    update: list[str]
    """The updates, except those that contain a secret."""
    target: str | None
    """The target."""
    datacenter: str | None
    """The datacenter."""
    namespace: str | None
    """The namespace."""
    templates: str | None
    """The folder of templates."""
    agreed: list[str]
    """The options that were agreed to: `replace`, `rerun`, `no-prune`."""
    withheld: list[str]
    """The paths of updates that contain a secret; they must be given again to apply the plan."""
    folder: str
    """The folder that paths are relative to, relative to the folder of the plan."""
    repositoryFolder: str | None
    """The same folder, relative to the top of its repository; null outside git."""


class PlannedObject(Shape):
    """The approval for one object, with digests instead of manifests."""

    operation: _Operation
    """The approved operation."""
    before: str | None
    """The digest of the object before; null if it did not exist."""
    after: str | None
    """The digest of the object after; null if it is deleted."""
    uid: str | None
    """The UID of the object before."""
    generation: int | None
    """The generation of the object before."""


class PlannedJob(Shape):
    """The approval for one job."""

    job: str
    """The name of the job."""
    namespace: str | None
    """The namespace."""
    server: str | None
    """The address of the API server."""
    step: str | None
    """What happens to the run: `create`, `replace`, or null if it is kept."""
    run: str | None
    """The number and UID of the last run."""
    objects: dict[str, PlannedObject]
    """The objects by kind and name, such as `Job/fit-trainer`."""


class Plan(Shape):
    """The plan that `diff --out` writes and `apply --plan` follows: an approval without manifests."""

    apiVersion: str
    """`paddlespec.io/v1`."""
    kind: str
    """`Plan`."""
    invocation: Invocation
    """The arguments of the command."""
    jobs: list[PlannedJob]
    """The approved jobs."""
