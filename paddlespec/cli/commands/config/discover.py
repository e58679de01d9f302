"""`config discover`: what a cluster offers, written into the project file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from paddlespec.cli.shared import config_file, options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    from paddlespec.backends.capabilities import Features
    from paddlespec.cli.shared.config_file import Edited
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.spec.edit.splice import Action

_OTHER = re.compile(r"[^a-z0-9]+")
Found = TypeVar("Found")


def discover(
    name: config_file.Name,
    *,
    dry_run: config_file.DryRun = False,
    cluster: options.Cluster,
) -> int:
    """
    Write a cluster's queues and storages into the project.

    Adds queues, storages, storage classes and accelerators that the project file lacks, and a new
    datacenter with --context and -n. Existing values stay.

    \b
    paddlespec config discover dc1 --dry-run
    paddlespec config discover dc2 --context k8s-dc2 -n ads
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.write_files import difference

    before = config_file.opened(project=True)
    with Engines(cluster.request()) as engines:
        engine, _ = engines.of_connection(name)
        found = _found(needed(engine.capabilities.features, engine, "config discover"))
    given = {"name": name, "context": cluster.context, "namespace": cluster.namespace}
    file = _completed(before, {key: text for key, text in given.items() if text}, found)
    if dry_run:
        write.text(difference(file.path, before.text, file.text))
        return Exit.done
    file.write_and_note()
    return Exit.done


def _found(features: Features) -> dict[str, Any]:
    """What the cluster offers; what the user may not see is left out with a note."""
    claims = _visible("storages", features.claims(), {})
    storages = {}
    for claim, state in claims.items():
        read_only = {"readOnly": True} if state["readOnly"] else {}
        storages[_label(claim)] = {"claim": claim, **read_only}
    return {
        "queues": {queue: queue for queue in _visible("queues", features.queues(), [])},
        "storages": storages,
        "storageClasses": _visible("storage classes", features.storage_classes(), []),
        "accelerators": _visible("accelerators", features.accelerators(), []),
    }


def _visible(what: str, found: Found | OperationFailed, otherwise: Found) -> Found:
    """*found*, or *otherwise* with a note."""
    from paddlespec.cli.shared.output import note
    from paddlespec.runs.failures import OperationFailed

    if isinstance(found, OperationFailed):
        note(f"{what} skipped: {found.message}")
        return otherwise
    return found


def _completed(file: Edited, given: dict[str, str], found: dict[str, Any]) -> Edited:
    """The file with what it lacks; a queue or claim under another name is not added again."""
    from paddlespec.diagnostic import Span

    span = Span(given["name"])
    if file.position_of(given["name"]) is None:
        listed = file.data.get(file.holder)
        action: Action = "append" if listed else "set"
        file = file.put((file.holder,), given if listed else [given], span, action)
    index = file.position_of(given["name"])
    assert index is not None
    there = file.data[file.holder][index]
    queues, storages = there.get("queues") or {}, there.get("storages") or {}
    claimed = {storage.get("claim") for storage in storages.values()}
    for name, queue in found["queues"].items():
        if name not in queues and queue not in queues.values():
            file = file.put((file.holder, index, "queues", name), queue, span)
    for name, value in found["storages"].items():
        if name not in storages and value["claim"] not in claimed:
            file = file.put((file.holder, index, "storages", name), value, span)
    for key in ("storageClasses", "accelerators"):
        more = [one for one in found[key] if one not in (there.get(key) or ())]
        if more:
            path = (file.holder, index, key)
            file = file.put(path, [*(there.get(key) or ()), *more], span)
    return file


def _label(name: str) -> str:
    return _OTHER.sub("-", name).strip("-")[:63].strip("-")
