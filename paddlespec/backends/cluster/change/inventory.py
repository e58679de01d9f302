"""
The inventory of a job: a ConfigMap that outlives its runs and holds its history.

Every change is a function of the current history, written against the version it was computed from.
If another writer was faster, the inventory is read again and the change is recomputed.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change.applyset import (
    GROUP_KINDS,
    ID_LABEL,
    TOOLING,
    group_kinds,
    inventory,
    set_id,
    tooling,
)
from paddlespec.diagnostic import did_you_mean
from paddlespec.runs.failures import NotFound, OperationFailed
from paddlespec.runs.history import History, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

INVENTORY_LABEL = "paddlespec.io/inventory"
PROJECT_LABEL = "app.kubernetes.io/part-of"
SOURCE = "paddlespec.io/source"
_TRIES = 10


class Inventory:
    """The inventory of one job in one namespace."""

    def __init__(self, client: Client, namespace: str, job: str) -> None:
        self.client, self.namespace, self.job = client, namespace, job
        self.identity = inventory(namespace, job)
        self.live: Manifest | None = None
        self.history = History()

    def read(self) -> History:
        """Read the history; a missing inventory counts as empty."""
        self.live = self.client.get(self.identity)
        if self.live is not None and not is_inventory(self.live):
            raise OperationFailed(
                f"ConfigMap {self.identity.name} in namespace {self.namespace} was not "
                "created by paddlespec, but has the name of this job's inventory",
                "delete it, or give the job another name",
            )
        self.history = history_of(self.live)
        return self.history

    def write(
        self,
        change: Callable[[History], History],
        kinds: Iterable[tuple[str, str]] = (),
        project: str | None = None,
        source: str | None = None,
    ) -> History:
        """
        Change the history; nothing is written if nothing changes.

        *kinds* are added to the kinds that the inventory already lists.
        """
        for _ in range(_TRIES):
            after = change(self.history)
            desired = self._desired(after, kinds, project, source)
            if self.live is not None and not _differs(self.live, desired):
                self.history = after
                return after
            try:
                if self.live is None:
                    self.live = self.client.create(desired, self.identity)
                else:
                    self.live = self.client.update(desired, self.identity)
            except Refused as error:
                if error.refusal.status == 404 and self.live is not None:
                    self.live, self.history = None, History()
                    continue
                if error.refusal.status != 409:
                    raise
                self.read()
                continue
            self.history = after
            return after
        raise OperationFailed(
            f"the inventory of {self.job} keeps being changed by others",
            "check who else applies this job",
        )

    def delete(self) -> None:
        """Delete the inventory with the history."""
        if self.live is not None:
            self.client.delete(self.identity, self.live["metadata"]["uid"])

    def _desired(
        self,
        history: History,
        kinds: Iterable[tuple[str, str]],
        project: str | None,
        source: str | None,
    ) -> Manifest:
        live = self.live or {}
        metadata = live.get("metadata") or {}
        annotations = metadata.get("annotations") or {}
        listed = {kind for kind in annotations.get(GROUP_KINDS, "").split(",") if kind}
        listed |= {kind for kind in group_kinds(kinds).split(",") if kind}
        known = (metadata.get("labels") or {}).get(PROJECT_LABEL)
        owned = {PROJECT_LABEL: project or known} if project or known else {}
        if source is None and (project is None or project == known):
            source = annotations.get(SOURCE)
        kept = {key: value for key, value in annotations.items() if key != SOURCE}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self.identity.name,
                "namespace": self.namespace,
                "labels": {
                    **(metadata.get("labels") or {}),
                    "app.kubernetes.io/managed-by": "paddlespec",
                    INVENTORY_LABEL: self.job,
                    ID_LABEL: set_id(self.namespace, self.job),
                    **owned,
                },
                "annotations": {
                    **kept,
                    **({SOURCE: source} if source else {}),
                    TOOLING: tooling(),
                    GROUP_KINDS: ",".join(sorted(listed)),
                },
                **{key: metadata[key] for key in ("uid", "resourceVersion") if key in metadata},
            },
            "data": encode(history),
        }


def is_inventory(live: Manifest) -> bool:
    """Report whether a ConfigMap is the inventory of a job."""
    return INVENTORY_LABEL in (live["metadata"].get("labels") or {})


def history_of(live: Manifest | None) -> History:
    """Return the history of an inventory; raises `OperationFailed` if it is damaged."""
    try:
        return decode((live or {}).get("data") or {})
    except ValueError:
        assert live is not None
        raise OperationFailed(
            f"the inventory {live['metadata']['name']} is damaged: its history cannot be read",
            f"inspect it: kubectl get configmap {live['metadata']['name']} -o yaml",
        ) from None


def now() -> str:
    """Return the current time as recorded: RFC 3339, in UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _differs(live: Manifest, desired: Manifest) -> bool:
    if (live.get("data") or {}) != desired["data"]:
        return True
    return any(
        (live["metadata"].get(key) or {}) != desired["metadata"][key]
        for key in ("labels", "annotations")
    )


def unknown(client: Client, name: str) -> NotFound:
    """Report that no job has this name, and suggest one that does."""
    try:
        inventories = client.find("v1", "ConfigMap", client.namespace, INVENTORY_LABEL)
    except Refused:
        inventories = []
    names = {live["metadata"]["labels"][INVENTORY_LABEL] for live in inventories}
    hint = did_you_mean(name, sorted(names))
    return NotFound(f"job {name} does not exist in namespace {client.namespace}", hint)
