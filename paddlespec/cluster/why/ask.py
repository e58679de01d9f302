"""Asking a cluster for what a rule wants to know, once, and only if it does."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from paddlespec.backend import OperationFailed
from paddlespec.cluster.nodes import nodes
from paddlespec.cluster.pull_secrets import registries
from paddlespec.cluster.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cluster.client import Client
    from paddlespec.cluster.nodes import Node
    from paddlespec.cluster.pull_secrets import Registry
    from paddlespec.manifest import Manifest

Found = TypeVar("Found")
_VERSIONS = {"": "v1", "storage.k8s.io": "storage.k8s.io/v1"}


class Asking:
    """Satisfies `Ask`: whoever may not see something learns the rest."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace
        self._events: dict[str, list[Manifest]] = {}
        self._found: dict[tuple[str, str], list[Manifest] | None] = {}

    def events(self, uid: str) -> list[Manifest]:
        """The events of an object."""
        return self._seen(f"involvedObject.uid={uid}")

    def happened(self, reason: str) -> list[Manifest]:
        """The events of pods that may be gone."""
        return self._seen(f"involvedObject.kind=Pod,reason={reason}")

    def nodes(self) -> list[Node] | None:
        """The nodes, which only some may read."""
        return self._nodes

    def pull_secrets(self) -> list[Registry] | None:
        """The pull secrets, of which nothing secret is kept."""
        return self._pull_secrets

    def find(self, group: str, kind: str) -> list[Manifest] | None:
        """The objects of a kind; nothing as well where the cluster does not know it."""
        key = (group, kind)
        if key not in self._found:
            self._found[key] = _allowed(lambda: self._list(group, kind))
        return self._found[key]

    def last_lines(self, pod: Manifest, container: str, count: int) -> list[str]:
        """The end of a log, if it can be read."""
        try:
            return self.client.logs(self.namespace, pod["metadata"]["name"], container, count)
        except OperationFailed:
            return []

    @cached_property
    def _nodes(self) -> list[Node] | None:
        return _allowed(lambda: nodes(self.client))

    @cached_property
    def _pull_secrets(self) -> list[Registry] | None:
        return _allowed(lambda: registries(self.client))

    def _seen(self, fields: str) -> list[Manifest]:
        if fields not in self._events:
            found = _allowed(lambda: self.client.find("v1", "Event", self.namespace, fields=fields))
            self._events[fields] = sorted(found or [], key=_time)
        return self._events[fields]

    def _list(self, group: str, kind: str) -> list[Manifest] | None:
        version = _VERSIONS.get(group) or self.client.preferred(group)
        return self.client.find(version, kind, self.namespace) if version else None


def _allowed(look: Callable[[], Found]) -> Found | None:
    try:
        return look()
    except Refused:
        return None


def _time(event: Manifest) -> str:
    series = event.get("series") or {}
    times = (event.get("lastTimestamp"), series.get("lastObservedTime"), event.get("eventTime"))
    return str(next((each for each in times if each), ""))
