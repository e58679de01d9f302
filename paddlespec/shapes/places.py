"""The output of `config`, `get registries` and `version`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from paddlespec.shapes.base import Shape, Time

CheckState = Literal["ok", "missing", "absent", "unknown"]


class Registry(Shape):
    """A pull secret of the namespace, without its passwords."""

    namespace: str
    """The namespace."""
    name: str
    """The name, as in `registry` of a spec."""
    servers: list[str]
    """The registry hosts that it has passwords for."""
    users: list[str]
    """The user names."""
    ours: bool
    """Whether `registry add` created it."""
    created: Time | None
    """When it was created."""


class Registries(Shape):
    """The output of `get registries` and `registry list`."""

    registries: list[Registry]
    """The pull secrets of the namespace; with -A, of all namespaces."""


_Files = Annotated[
    list[Literal["project", "own"]],
    Field(description="The configuration that names it: the project file, your own, or both."),
]
# `from` is a keyword of Python and cannot be an attribute of a class.
_From = TypedDict("_From", {"from": _Files})


class Datacenter(Shape, _From):
    """A named place to run."""

    name: str
    """Its name."""
    current: bool
    """Whether commands use it by default."""
    context: str | None
    """The kubeconfig context."""
    namespace: str | None
    """The namespace."""


class Datacenters(Shape):
    """The output of `config list`."""

    datacenters: list[Datacenter]
    """The datacenters of your own configuration, then those named only by the project file."""


class Place(Shape):
    """The output of `config view`: the cluster that commands use without options."""

    datacenter: str | None
    """The name of the current datacenter."""
    context: str | None
    """The kubeconfig context; null for the one that kubectl uses."""
    namespace: str | None
    """The namespace; null for the one of the context."""


class Value(Shape):
    """A value and its origin."""

    value: str | None
    """The value; null if it is not set."""
    origin: str
    """Where the value is set, for people."""


class PlaceWithOrigins(Shape):
    """The output of `config view --show-origin`."""

    datacenter: Value
    """The name of the current datacenter."""
    context: Value
    """The kubeconfig context."""
    namespace: Value
    """The namespace."""


class Check(Shape):
    """One check."""

    what: str
    """What was checked: `server`, `rights`, `kind`, `queue`, `storage`."""
    name: str
    """The name of what was checked."""
    state: CheckState
    """The result; `absent` does not exist and is not needed."""
    detail: str
    """Details, for people."""


class Checks(Shape):
    """The output of `config check`."""

    datacenter: str | None
    """The name of the datacenter; null if none is chosen."""
    checks: list[Check]
    """All checks."""


class Versions(Shape):
    """The output of `version`."""

    client: str
    """The version of paddlespec."""
    spec: str
    """The `apiVersion` of supported specs."""
    python: str
    """The version of Python."""
    server: str | None
    """The version of the Kubernetes server; null if none was contacted, or none answered."""
    address: str | None
    """The address of the server."""
    extensions: dict[str, str | None] | None
    """The API versions of other schedulers and targets in the cluster; null if not installed."""
