"""Quotas, queues, storages, pull secrets, rights and extensions of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from paddlespec.backends.capabilities import Missing, Rights, Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.capabilities import PullSecret
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.engine import Engine
    from paddlespec.capacity.holding import Holding
    from paddlespec.capacity.line import Unknown
    from paddlespec.capacity.queue import Queues
    from paddlespec.capacity.room import Room
    from paddlespec.capacity.storage import Storages
    from paddlespec.images.registry import Credentials
    from paddlespec.runs.failures import OperationFailed

Result = TypeVar("Result")


class ClusterCapacity(NamedTuple):
    """Quotas, queues, storages and nodes."""

    engine: Engine

    def room(self, namespace: str, *, job: str | None = None, nodes: bool = False) -> Room:
        """Return everything that limits jobs."""
        from paddlespec.backends.cluster.place.bounds import room

        return room(self.engine.client, namespace, job=job, with_nodes=nodes)

    def queues(self, namespace: str) -> Queues:
        """Return the queues of Kueue and Volcano."""
        from paddlespec.backends.cluster.place.queues import queues

        return queues(self.engine.client, namespace)

    def storages(self, namespace: str) -> Storages:
        """Return claims and storage classes."""
        from paddlespec.backends.cluster.place.storages import storages

        return storages(self.engine.client, namespace)

    def holdings(self) -> tuple[list[Holding], list[Unknown]]:
        """Return what nodes and queues hold."""
        from paddlespec.backends.cluster.place.holdings import holdings

        return holdings(self.engine.client)


class ClusterPullSecrets(NamedTuple):
    """The pull secrets of a namespace, which kubelets use."""

    engine: Engine

    def all(self, *, everywhere: bool = False) -> list[PullSecret]:
        """Return every pull secret of the namespace, or of all namespaces."""
        from paddlespec.backends.cluster.place import pull_secrets

        return pull_secrets.registries(self.engine.client, everywhere=everywhere)

    def add(self, name: str, server: str, credentials: Credentials) -> bool:
        """Write a pull secret."""
        from paddlespec.backends.cluster.place import pull_secrets

        return pull_secrets.add(self.engine.client, name, server, credentials)

    def delete(self, name: str) -> None:
        """Delete a pull secret that paddlespec created."""
        from paddlespec.backends.cluster.place import pull_secrets

        pull_secrets.delete(self.engine.client, name)

    def credentials(self, name: str, server: str) -> Credentials:
        """Return the credentials of a pull secret for *server*."""
        from paddlespec.backends.cluster.place import pull_secrets

        return pull_secrets.credentials(self.engine.client, name, server)


class ClusterFeatures(NamedTuple):
    """The API server, its extensions, the user's rights, and what jobs can name."""

    engine: Engine

    def server(self) -> Server:
        """Return the version and address of the API server."""
        client = self.engine.client
        return Server(client.server_version(), client.host)

    def extensions(self) -> dict[str, str | None]:
        """Return the versions of the extensions that jobs can use."""
        from paddlespec.backends.cluster.place.features import installed

        return installed(self.engine.client)

    def rights(self, role: str) -> Rights:
        """Ask the API server for each right of *role*."""
        from paddlespec.backends.cluster.api import rights

        needed = rights.needed(role)
        lacking = [
            tuple(Missing(right.resource, right.verb) for right in absent)
            for absent in (
                rights.lacking(self.engine.client, needed),
                rights.lacking(self.engine.client, rights.optional(role)),
            )
        ]
        return Rights(len(needed), *lacking)

    def queues(self) -> list[str] | OperationFailed:
        """Return the queues of Kueue and Volcano."""
        from paddlespec.backends.cluster.place import features

        return self._allowed(features.queues)

    def claims(self) -> dict[str, dict[str, str | bool]] | OperationFailed:
        """Return the claims of the namespace."""
        from paddlespec.backends.cluster.place import features

        return self._allowed(features.claims)

    def storage_classes(self) -> list[str] | OperationFailed:
        """Return the storage classes."""
        from paddlespec.backends.cluster.place import features

        return self._allowed(features.storage_classes)

    def accelerators(self) -> list[str] | OperationFailed:
        """Return the devices of the nodes."""
        from paddlespec.backends.cluster.place import features

        return self._allowed(features.accelerators)

    def _allowed(self, look: Callable[[Client], Result]) -> Result | OperationFailed:
        from paddlespec.backends.cluster.place.features import allowed

        result: Result | OperationFailed = allowed(lambda: look(self.engine.client))
        return result
