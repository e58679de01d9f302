"""Read what a rule needs from the cluster: only on demand, and only once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.place.nodes import nodes
from paddlespec.backends.cluster.place.pull_secrets import registries
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.capabilities import PullSecret
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.place.nodes import Node
    from paddlespec.render.manifest import Manifest

Result = TypeVar("Result")
_VERSIONS = {"": "v1", "storage.k8s.io": "storage.k8s.io/v1"}


class Asking:
    """Implement `Ask`; what the user may not read is treated as unknown."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace
        self._events: dict[str, list[Manifest]] = {}
        self._objects: dict[tuple[str, str], list[Manifest] | None] = {}

    def events(self, uid: str) -> list[Manifest]:
        """List the events of an object."""
        return self._events_matching(f"involvedObject.uid={uid}")

    def happened(self, reason: str) -> list[Manifest]:
        """List the events of pods, including deleted ones."""
        return self._events_matching(f"involvedObject.kind=Pod,reason={reason}")

    def nodes(self) -> list[Node] | None:
        """List the nodes, if the user may read them."""
        return self._nodes

    def pull_secrets(self) -> list[PullSecret] | None:
        """List the pull secrets, without their credentials."""
        return self._pull_secrets

    def find(self, group: str, kind: str) -> list[Manifest] | None:
        """List the objects of a kind; None also if the cluster does not serve it."""
        key = (group, kind)
        if key not in self._objects:
            self._objects[key] = _allowed(lambda: self._list(group, kind))
        return self._objects[key]

    def last_lines(self, pod: Manifest, container: str, count: int) -> list[str]:
        """Read the end of a log; empty if it cannot be read."""
        try:
            return self.client.logs(self.namespace, pod["metadata"]["name"], container, count)
        except OperationFailed:
            return []

    @cached_property
    def _nodes(self) -> list[Node] | None:
        return _allowed(lambda: nodes(self.client))

    @cached_property
    def _pull_secrets(self) -> list[PullSecret] | None:
        return _allowed(lambda: registries(self.client))

    def _events_matching(self, fields: str) -> list[Manifest]:
        if fields not in self._events:
            events = _allowed(
                lambda: self.client.find("v1", "Event", self.namespace, fields=fields)
            )
            self._events[fields] = sorted(events or [], key=_time)
        return self._events[fields]

    def _list(self, group: str, kind: str) -> list[Manifest] | None:
        version = _VERSIONS.get(group) or self.client.preferred(group)
        return self.client.find(version, kind, self.namespace) if version else None


def _allowed(read: Callable[[], Result]) -> Result | None:
    try:
        return read()
    except Refused:
        return None


def _time(event: Manifest) -> str:
    series = event.get("series") or {}
    times = (event.get("lastTimestamp"), series.get("lastObservedTime"), event.get("eventTime"))
    return str(next((moment for moment in times if moment), ""))
