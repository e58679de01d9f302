"""
Read the objects of many jobs of one namespace with few requests.

The answers are those the API server gave a moment ago, each object once: a caller that asks again
wants the current state. They are good enough for reading, but not for writing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.kinds import extensions, managed
from paddlespec.backends.cluster.change.applyset import inventory
from paddlespec.backends.cluster.change.inventory import INVENTORY_LABEL
from paddlespec.render.manifest import JOB_LABEL, Identity, identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Work

# Names in one selector: proxies limit the length of an address.
_NAMES = 50

Kind = tuple[str, str]
_INVENTORIES = (("v1", "ConfigMap"), INVENTORY_LABEL)


class Answer(NamedTuple):
    """An object, or the fact that it does not exist."""

    live: Manifest | None


class Survey:
    """The objects that were read, for concurrent use."""

    def __init__(self, namespace: str, jobs: frozenset[str]) -> None:
        self.namespace, self.jobs = namespace, jobs
        self._objects: dict[Identity, Answer] = {}
        self._members: dict[tuple[Kind, str], list[Manifest]] = {}
        self._kinds: set[Kind] = set()
        self._lock = threading.Lock()

    def get(self, target: Identity) -> Answer | None:
        """Return what is known of an object, but only the first time it is requested."""
        with self._lock:
            return self._objects.pop(target, None)

    def find(self, kind: Kind, namespace: str, selector: str, fields: str) -> list[Manifest] | None:
        """Return the matching objects of one job; None if only the server can answer."""
        labels = dict(term.partition("=")[::2] for term in selector.split(",") if term)
        job = labels.get(JOB_LABEL, "")
        known = kind in self._kinds and namespace == self.namespace and job in self.jobs
        if not known or fields:
            return None
        return [live for live in self._members.get((kind, job), ()) if _has(live, labels)]

    def take(self, client: Client, works: Sequence[Work]) -> None:
        """Read what a comparison needs; raises `OperationFailed` if any list is forbidden."""
        targets = [
            identity(manifest)._replace(namespace=self.namespace)
            for work in works
            for manifest in work.manifests
        ]
        kinds = {(target.api_version, target.kind) for target in targets} | set(managed())
        kinds |= {kind for kind in extensions() if client.serves(*kind)}
        self._take(client, [*((kind, JOB_LABEL) for kind in sorted(kinds)), _INVENTORIES])
        self._kinds = kinds
        targets += [inventory(self.namespace, job) for job in self.jobs]
        self._note_absent(client, [target for target in targets if target not in self._objects])

    def watch(self, client: Client, works: Sequence[Work]) -> None:
        """Read what is polled: the workloads and their pods."""
        manifests = [manifest for work in works for manifest in work.manifests]
        kinds = {*workloads.kinds(manifests), ("v1", "Pod")}
        self._take(client, [(kind, JOB_LABEL) for kind in sorted(kinds)])
        self._objects.clear()
        self._kinds = kinds

    def _take(self, client: Client, asked: list[tuple[Kind, str]]) -> None:
        lists = [
            (kind, f"{label} in ({names})")
            for kind, label in asked
            for names in _batches(self.jobs)
        ]
        for objects in client.each(
            lambda request: client.find(*request[0], self.namespace, request[1]), lists
        ):
            for live in objects:
                self._add(live)

    def _add(self, live: Manifest) -> None:
        target = identity(live)._replace(namespace=self.namespace)
        self._objects[target] = Answer(live)
        job = (live["metadata"].get("labels") or {}).get(JOB_LABEL)
        self._members.setdefault(((target.api_version, target.kind), str(job)), []).append(live)

    def _note_absent(self, client: Client, missing: list[Identity]) -> None:
        """Record which of *missing* do not exist at all; the others do not belong to these jobs."""
        kinds = sorted({(target.api_version, target.kind) for target in missing})
        names = dict(
            zip(kinds, client.each(lambda kind: client.names(*kind, self.namespace), kinds))
        )
        for target in missing:
            known = names[target.api_version, target.kind]
            if known is not None and target.name not in known:
                self._objects[target] = Answer(None)


def _batches(jobs: Iterable[str]) -> Iterator[str]:
    names = sorted(jobs)
    for start in range(0, len(names), _NAMES):
        yield ",".join(names[start : start + _NAMES])


def _has(live: Manifest, labels: dict[str, str]) -> bool:
    own = live["metadata"].get("labels") or {}
    return all(own.get(key) == value for key, value in labels.items())
