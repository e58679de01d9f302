"""The output of `get quota`, `get queues`, `get resources` and `get storages`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paddlespec.shapes.base import Count, Shape

Amount = Annotated[str, Field(description="An exact amount, such as `1.5` or `18980Mi`.")]


class Unknown(Shape):
    """Something that could not be read."""

    what: str
    """What could not be read."""
    reason: str
    """Why, for people."""


class Line(Shape):
    """A limit on a resource, and what a job needs of it."""

    namespace: str | None
    """The namespace; null if it has none."""
    kind: str
    """`quota`, `limits`, `kueue` or `volcano`."""
    name: str
    """The name: `QUEUE/FLAVOR`, `RANGE/TYPE` of a limit range, or `*` for all of a kind."""
    resource: str | None
    """The resource, as named by quotas and pods; null if the line is not about one."""
    used: Amount | None
    hard: Amount | None
    free: Amount | None
    need: Amount | None
    short: Amount | None
    fits: bool | None
    """Whether the job fits; null if no job was given or the limit cannot be read."""
    reason: str | None
    """Details, for people."""


class Quota(Shape):
    """The output of `get quota`."""

    namespace: str | None
    """The namespace; null for all of them."""
    job: str | None
    """The job given with `--for`."""
    fits: bool | None
    """Whether the job fits; null without a job, or if something is unknown."""
    lines: list[Line]
    """All limits."""
    unknown: list[Unknown]
    """What could not be read."""


class Share(Shape):
    """The quota of a queue for a resource."""

    flavor: str | None
    """The flavor, in Kueue."""
    resource: str
    """The resource, as named by pods."""
    quota: Amount | None
    used: Amount | None
    free: Amount | None


class Queue(Shape):
    """A queue that jobs can name."""

    namespace: str | None
    """The namespace; null for queues of Volcano."""
    name: str
    """The name."""
    scheduler: Literal["kueue", "volcano"]
    """The scheduler that the queue belongs to."""
    clusterQueue: str | None
    """The cluster queue behind a local queue."""
    cohort: str | None
    """The cohort from which the queue can borrow."""
    state: Literal["active", "stopped"]
    """Whether the queue admits jobs."""
    reason: str | None
    """Why it is stopped, for people."""
    weight: int | None
    """The weight among the queues of Volcano."""
    pending: Count | None
    """The number of waiting workloads or pod groups."""
    running: Count | None
    """The number of running workloads or pod groups."""
    reserving: Count | None
    """The number of workloads that reserve quota."""
    resources: list[Share] | None
    """The quota of each resource; null if it cannot be read."""


class Queues(Shape):
    """The output of `get queues`."""

    namespace: str | None
    """The namespace; null for all of them."""
    kueue: str | None
    """The API version of Kueue that the cluster serves."""
    volcano: str | None
    """The API version of Volcano that the cluster serves."""
    queues: list[Queue]
    """The local queues of the namespace, then the queues of Volcano."""
    unknown: list[Unknown]
    """What could not be read."""


class Holding(Shape):
    """The amounts of one resource."""

    datacenter: str | None
    """The datacenter, if one was named."""
    kind: Literal["total", "queue", "node", "machine", "datacenter"]
    """The kind of the holder; `datacenter` is one that did not answer."""
    name: str
    """The name of the holder."""
    state: Literal["ready", "cordoned", "not ready", "active", "stopped", "unreachable"]
    """Whether jobs can use it."""
    resource: str | None
    """The resource, as named by pods."""
    capacity: Amount | None
    allocatable: Amount | None
    used: Amount | None
    free: Amount | None
    reason: str | None
    """Details, for people."""


class Resources(Shape):
    """The output of `get resources`."""

    resources: list[Holding]
    """For each datacenter the totals, then queues, then nodes."""
    unknown: list[Unknown]
    """What could not be read."""


class Claim(Shape):
    """A volume claim."""

    namespace: str
    """The namespace."""
    name: str
    """The name."""
    phase: str
    """`Pending`, `Bound`, `Lost`, or `Deleting`."""
    size: Amount | None
    used: Amount | None
    accessModes: list[str]
    """The access modes."""
    storageClass: str | None
    """The storage class."""
    volume: str | None
    """The name of the bound volume."""


class StorageClass(Shape):
    """A storage class, which provisions volumes for claims."""

    name: str
    """The name."""
    provisioner: str
    """The provisioner of the volumes."""
    default: bool
    """Whether claims without a class use this one."""
    expandable: bool
    """Whether volumes can be expanded."""
    reclaimPolicy: str
    """What happens to a volume after its claim is deleted."""


class Storage(Shape):
    """A storage of the project file."""

    datacenter: str
    """The datacenter of the storage."""
    name: str
    """The name in the datacenter."""
    claim: str | None
    """The volume claim behind it."""
    phase: str | None
    """The phase of that claim; null if it does not exist or is unknown."""
    url: str | None
    """The URL of the object store behind it."""
    readOnly: bool
    """Whether the storage is read-only."""
    local: str | None
    """The folder that replaces it in a rehearsal on your machine."""


class Storages(Shape):
    """The output of `get storages`."""

    namespace: str | None
    """The namespace; null for all of them."""
    claims: list[Claim]
    """The claims of the namespace."""
    classes: list[StorageClass]
    """The storage classes of the cluster."""
    storages: list[Storage]
    """The storages of the datacenter in the project file."""
    unknown: list[Unknown]
    """What could not be read."""
