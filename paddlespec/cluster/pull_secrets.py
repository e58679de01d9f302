"""Pull secrets of a namespace: all are shown, and only our own are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.manifest import Identity
from paddlespec.registry import SECRET_TYPE, known_to, secret

if TYPE_CHECKING:
    from paddlespec.cluster.client import Client
    from paddlespec.registry import Credentials


class Registry(NamedTuple):
    """A pull secret without what is secret in it."""

    name: str
    servers: tuple[str, ...]
    users: tuple[str, ...]
    is_ours: bool
    created: str


def registries(client: Client) -> list[Registry]:
    """The pull secrets of the namespace, whoever has made them."""
    found = client.find("v1", "Secret", client.namespace, fields=f"type={SECRET_TYPE}")
    return [_registry(each) for each in found]


def add(client: Client, name: str, server: str, credentials: Credentials) -> bool:
    """Write a pull secret; whether there was none before."""
    identity = Identity("v1", "Secret", client.namespace, name)
    live = client.get(identity)
    if live is not None:
        _hold(live, identity)
    client.apply(secret(name, client.namespace, server, credentials), identity)
    return live is None


def delete(client: Client, name: str) -> None:
    """Delete a pull secret of ours."""
    identity = Identity("v1", "Secret", client.namespace, name)
    live = client.get(identity)
    if live is None:
        raise _missing(client, name)
    _hold(live, identity)
    client.delete(identity, live["metadata"]["uid"], live["metadata"]["resourceVersion"])


def credentials(client: Client, name: str, server: str) -> Credentials:
    """What a pull secret has for one registry."""
    live = client.get(Identity("v1", "Secret", client.namespace, name))
    if live is None or live.get("type") != SECRET_TYPE:
        raise _missing(client, name)
    found = known_to(live)
    if server not in found:
        told = f"the pull secret {name} is for {', '.join(found) or 'no registry'}, not {server}"
        raise OperationFailed(told)
    return found[server]


def _registry(live: dict[str, Any]) -> Registry:
    known, metadata = known_to(live), live["metadata"]
    users = tuple(dict.fromkeys(each.username for each in known.values() if each.username))
    created = str(metadata.get("creationTimestamp") or "")
    return Registry(metadata["name"], tuple(known), users, _is_ours(live), created)


def _is_ours(live: dict[str, Any]) -> bool:
    labels = live["metadata"].get("labels") or {}
    return live.get("type") == SECRET_TYPE and bool(
        labels.get("app.kubernetes.io/managed-by") == "paddlespec"
    )


def _hold(live: dict[str, Any], identity: Identity) -> None:
    if not _is_ours(live):
        raise OperationFailed(
            f"{identity} is not ours, and stays as it is",
            "choose another name; or see to it with kubectl",
        )


def _missing(client: Client, name: str) -> OperationFailed:
    return OperationFailed(
        f"there is no pull secret {name} in namespace {client.namespace}",
        "paddlespec get registries shows those that are there",
    )
