"""Manage the pull secrets of a namespace; only those created by paddlespec are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.backends.capabilities import PullSecret
from paddlespec.images.registry import SECRET_TYPE, known_to, secret
from paddlespec.render.manifest import Identity
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.images.registry import Credentials


def registries(client: Client, *, everywhere: bool = False) -> list[PullSecret]:
    """List all pull secrets of the namespace, or of all namespaces."""
    namespace = "" if everywhere else client.namespace
    secrets = client.find("v1", "Secret", namespace, fields=f"type={SECRET_TYPE}")
    return [_registry(secret) for secret in secrets]


def add(client: Client, name: str, server: str, credentials: Credentials) -> bool:
    """Write a pull secret, and report whether it is new."""
    identity = Identity("v1", "Secret", client.namespace, name)
    live = client.get(identity)
    if live is not None:
        _hold(live, identity)
    client.apply(secret(name, client.namespace, server, credentials), identity)
    return live is None


def delete(client: Client, name: str) -> None:
    """Delete a pull secret created by paddlespec."""
    identity = Identity("v1", "Secret", client.namespace, name)
    live = client.get(identity)
    if live is None:
        raise _missing(client, name)
    _hold(live, identity)
    client.delete(identity, live["metadata"]["uid"], live["metadata"]["resourceVersion"])


def credentials(client: Client, name: str, server: str) -> Credentials:
    """Return the credentials of a pull secret for one registry."""
    live = client.get(Identity("v1", "Secret", client.namespace, name))
    if live is None or live.get("type") != SECRET_TYPE:
        raise _missing(client, name)
    known = known_to(live)
    if server not in known:
        message = f"pull secret {name} is for {', '.join(known) or 'no registry'}, not {server}"
        raise OperationFailed(message)
    return known[server]


def _registry(live: dict[str, Any]) -> PullSecret:
    known, metadata = known_to(live), live["metadata"]
    users = tuple(dict.fromkeys(login.username for login in known.values() if login.username))
    created = str(metadata.get("creationTimestamp") or "")
    return PullSecret(
        metadata["name"], tuple(known), users, _is_ours(live), created, metadata["namespace"]
    )


def _is_ours(live: dict[str, Any]) -> bool:
    labels = live["metadata"].get("labels") or {}
    return live.get("type") == SECRET_TYPE and bool(
        labels.get("app.kubernetes.io/managed-by") == "paddlespec"
    )


def _hold(live: dict[str, Any], identity: Identity) -> None:
    if not _is_ours(live):
        raise OperationFailed(
            f"{identity} was not created by paddlespec and is not changed",
            "choose another name, or change it with kubectl",
        )


def _missing(client: Client, name: str) -> OperationFailed:
    return OperationFailed(
        f"pull secret {name} does not exist in namespace {client.namespace}",
        "list pull secrets with: paddlespec get registries",
    )
