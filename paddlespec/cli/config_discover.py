"""`config discover`: what a cluster offers, written into the project file."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli import options
from paddlespec.cli.config_check import reached
from paddlespec.cli.config_file import Edited, opened
from paddlespec.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cluster.client import Client

_OTHER = re.compile(r"[^a-z0-9]+")


def discover(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a datacenter.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written and write nothing.")
    ] = False,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Ask a cluster for its queues, storages and accelerators, and note them in the project file.

    What the file says already stays as it is. With --context and -n a new datacenter is added.

    \b
    paddlespec config discover dc1 --dry-run
    paddlespec config discover dc2 --context k8s-dc2 -n ads
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import note
    from paddlespec.cli.write import difference

    before = opened(project=True)
    with Engines(kubeconfig, context, namespace, None) as engines:
        client, _, _ = reached(engines, name)
        found = _found(client)
    given = {"name": name, "context": context, "namespace": namespace}
    file = _noted(before, {key: each for key, each in given.items() if each}, found)
    if dry_run:
        sys.stdout.write(difference(file.path, before.text, file.text))
        return Exit.done
    file.write()
    note(f"{file.path}: {'changed' if file.is_changed else 'nothing to change'}")
    return Exit.done


def _found(client: Client) -> dict[str, Any]:
    """What the cluster offers; what one may not look at is told and left out."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.tell import note
    from paddlespec.cluster import terrain

    def asked(what: str, look: Callable[[Client], Any]) -> Any:
        found = terrain.allowed(lambda: look(client))
        if isinstance(found, OperationFailed):
            note(f"{what} are left out: {found.message}")
            return []
        return found

    claims = asked("storages", terrain.claims)
    storages = {}
    for claim in claims or ():
        is_closed = claims[claim]["readOnly"]
        storages[_label(claim)] = {"claim": claim, **({"readOnly": True} if is_closed else {})}
    return {
        "queues": {each: each for each in asked("queues", terrain.queues)},
        "storages": storages,
        "storageClasses": asked("storage classes", terrain.storage_classes),
        "accelerators": asked("accelerators", terrain.accelerators),
    }


def _noted(file: Edited, given: dict[str, str], found: dict[str, Any]) -> Edited:
    """The file with what it lacked; a queue or claim that it names under another name it has."""
    from paddlespec.diagnostic import Span

    span = Span(given["name"])
    if file.position_of(given["name"]) is None:
        listed = file.data.get(file.holder)
        action: Any = "append" if listed else "set"
        file = file.put((file.holder,), given if listed else [given], span, action)
    index = file.position_of(given["name"])
    assert index is not None
    there = file.data[file.holder][index]
    queues, storages = there.get("queues") or {}, there.get("storages") or {}
    claimed = {each.get("claim") for each in storages.values()}
    for name, queue in found["queues"].items():
        if name not in queues and queue not in queues.values():
            file = file.put((file.holder, index, "queues", name), queue, span)
    for name, value in found["storages"].items():
        if name not in storages and value["claim"] not in claimed:
            file = file.put((file.holder, index, "storages", name), value, span)
    for key in ("storageClasses", "accelerators"):
        more = [each for each in found[key] if each not in (there.get(key) or ())]
        if more:
            path = (file.holder, index, key)
            file = file.put(path, [*(there.get(key) or ()), *more], span)
    return file


def _label(name: str) -> str:
    return _OTHER.sub("-", name).strip("-")[:63].strip("-")
