"""`get quota`, `queues`, `resources` and `storages`: what there is room for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paddlespec.shapes.base import Count, Shape

Amount = Annotated[str, Field(description="An amount with all of its digits: `1.5`, `18980Mi`.")]


class Unknown(Shape):
    """Something that could not be looked at."""

    what: str
    """What it is."""
    reason: str
    """Why, for people."""


class Line(Shape):
    """What something allows of a resource, and what a job needs of it."""

    namespace: str | None
    """Whose it is; null for what belongs to no namespace."""
    kind: str
    """`quota`, `limits`, `kueue` or `volcano`."""
    name: str
    """Its name: `QUEUE/FLAVOR` of a queue, `RANGE/TYPE` of a limit range, `*` for all of a kind."""
    resource: str | None
    """The resource, as quotas and pods call it; null where it is not about one."""
    used: Amount | None
    hard: Amount | None
    free: Amount | None
    need: Amount | None
    short: Amount | None
    fits: bool | None
    """Whether it is enough; null if nobody asked or may know."""
    reason: str | None
    """More about it, for people."""


class Quota(Shape):
    """What `get quota` shows."""

    namespace: str | None
    """The namespace; null for all of them."""
    job: str | None
    """The job that is asked about."""
    fits: bool | None
    """Whether it fits; null if there is no job, or if not everything is known."""
    lines: list[Line]
    """All that bounds it."""
    unknown: list[Unknown]
    """What could not be looked at."""


class Share(Shape):
    """How much of a resource a queue has."""

    flavor: str | None
    """The flavor of Kueue."""
    resource: str
    """The resource, as pods call it."""
    quota: Amount | None
    used: Amount | None
    free: Amount | None


class Queue(Shape):
    """A queue that jobs may name."""

    namespace: str | None
    """Its namespace; null for queues of Volcano."""
    name: str
    """Its name."""
    scheduler: Literal["kueue", "volcano"]
    """Whose it is."""
    clusterQueue: str | None
    """The cluster queue behind a local queue."""
    cohort: str | None
    """The cohort in which it may borrow."""
    state: Literal["active", "stopped"]
    """Whether it admits anything."""
    reason: str | None
    """Why not, for people."""
    weight: int | None
    """Its weight among the queues of Volcano."""
    pending: Count | None
    """How many workloads or pod groups wait."""
    running: Count | None
    """How many run."""
    reserving: Count | None
    """How many hold a part of its quota."""
    resources: list[Share] | None
    """What it has; null if nobody may look."""


class Queues(Shape):
    """What `get queues` shows."""

    namespace: str | None
    """The namespace; null for all of them."""
    kueue: str | None
    """The version of Kueue's kinds that the cluster serves."""
    volcano: str | None
    """The version of Volcano's kinds that the cluster serves."""
    queues: list[Queue]
    """Local queues of the namespace, then the queues of Volcano."""
    unknown: list[Unknown]
    """What could not be looked at."""


class Holding(Shape):
    """How much of a resource something has."""

    datacenter: str | None
    """The datacenter, if one was named."""
    kind: Literal["total", "queue", "node", "machine", "datacenter"]
    """What it is; `datacenter` is one that did not answer."""
    name: str
    """Which one it is."""
    state: Literal["ready", "cordoned", "not ready", "active", "stopped", "unreachable"]
    """Whether jobs can use it."""
    resource: str | None
    """The resource, as pods call it."""
    capacity: Amount | None
    allocatable: Amount | None
    used: Amount | None
    free: Amount | None
    reason: str | None
    """More about it, for people."""


class Resources(Shape):
    """What `get resources` shows."""

    resources: list[Holding]
    """Of each datacenter the totals, then queues, then nodes."""
    unknown: list[Unknown]
    """What could not be looked at."""


class Claim(Shape):
    """A claim."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    phase: str
    """`Pending`, `Bound`, `Lost`, or `Deleting`."""
    size: Amount | None
    used: Amount | None
    accessModes: list[str]
    """How it may be mounted."""
    storageClass: str | None
    """The class that makes its volume."""
    volume: str | None
    """Its volume."""


class StorageClass(Shape):
    """What makes volumes for claims that name it."""

    name: str
    """Its name."""
    provisioner: str
    """What makes them."""
    default: bool
    """Whether claims that name no class get this one."""
    expandable: bool
    """Whether its volumes can grow."""
    reclaimPolicy: str
    """What becomes of a volume without its claim."""


class Storage(Shape):
    """A storage of the project file."""

    datacenter: str
    """The datacenter that has it."""
    name: str
    """Its name there."""
    claim: str | None
    """The claim that it is."""
    phase: str | None
    """The phase of that claim; null if it is not there, or not known."""
    url: str | None
    """The object store that it is."""
    readOnly: bool
    """Whether nothing is written to it."""
    local: str | None
    """The folder that stands in for it on one's own machine."""


class Storages(Shape):
    """What `get storages` shows."""

    namespace: str | None
    """The namespace; null for all of them."""
    claims: list[Claim]
    """The claims of the namespace."""
    classes: list[StorageClass]
    """The storage classes of the cluster."""
    storages: list[Storage]
    """What the project file names in the datacenter."""
    unknown: list[Unknown]
    """What could not be looked at."""
