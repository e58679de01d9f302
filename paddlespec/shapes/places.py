"""`config` and `get registries`: where jobs run, and what is there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from paddlespec.shapes.base import Shape, Time

CheckState = Literal["ok", "missing", "absent", "unknown"]


class Registry(Shape):
    """A pull secret of the namespace, without what is secret in it."""

    name: str
    """Its name, as in `registry` of a spec."""
    servers: list[str]
    """The hosts that it has a password for."""
    users: list[str]
    """The users whose passwords these are."""
    ours: bool
    """Whether `registry add` has written it."""
    created: Time | None
    """When it was made."""


class Registries(Shape):
    """What `get registries` and `registry list` show."""

    registries: list[Registry]
    """The pull secrets of the namespace."""


_Files = Annotated[
    list[Literal["project", "own"]],
    Field(description="Which configuration names it: the project file, your own, or both."),
]
# `from` is a word of Python and cannot be written as a key of a class.
_From = TypedDict("_From", {"from": _Files})


class Datacenter(Shape, _From):
    """A named place to run."""

    name: str
    """Its name."""
    current: bool
    """Whether commands speak to it when no option says otherwise."""
    context: str | None
    """The context of the kubeconfig that reaches it."""
    namespace: str | None
    """The namespace in it."""


class Datacenters(Shape):
    """What `config list` shows."""

    datacenters: list[Datacenter]
    """Those of your own configuration first, then those that only the project file names."""


class Place(Shape):
    """What `config view` shows: where commands go without options."""

    datacenter: str | None
    """The name of the current datacenter."""
    context: str | None
    """The context of the kubeconfig; null means the one that kubectl would use."""
    namespace: str | None
    """The namespace; null means that of the context."""


class Value(Shape):
    """A value, and who supplied it."""

    value: str | None
    """The value; null if nobody supplied one."""
    origin: str
    """Who supplied it, for people."""


class PlaceWithOrigins(Shape):
    """What `config view --show-origin` shows: where commands go, and who said so."""

    datacenter: Value
    """The name of the current datacenter."""
    context: Value
    """The context of the kubeconfig."""
    namespace: Value
    """The namespace."""


class Check(Shape):
    """One thing that was looked at."""

    what: str
    """What it is: `server`, `rights`, `kind`, `queue`, `storage`."""
    name: str
    """Which one it is."""
    state: CheckState
    """Whether it is there; `absent` is not there and not needed."""
    detail: str
    """More about it, for people."""


class Checks(Shape):
    """What `config check` shows."""

    datacenter: str | None
    """The name of the datacenter; null if none is chosen."""
    checks: list[Check]
    """Everything that was looked at."""


class Versions(Shape):
    """What `version` shows."""

    client: str
    """The version of this tool."""
    spec: str
    """The `apiVersion` of the specs that it reads."""
    python: str
    """The version of Python that it runs on."""
    server: str | None
    """The version of Kubernetes that answers; null where none was asked, or none did."""
    address: str | None
    """The address of that server."""
    extensions: dict[str, str | None] | None
    """The API version of each scheduler and target that is not Kubernetes' own; null where there is none."""
