"""`config discover`: what a cluster offers, written into the project file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.shared import config_file, options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop, worst

if TYPE_CHECKING:
    from paddlespec.backends.capabilities import Features
    from paddlespec.cli.shared.config_file import Edited
    from paddlespec.diagnostic import Path
    from paddlespec.spec.edit.splice import Action

_OTHER = re.compile(r"[^a-z0-9]+")
_LISTS = ("storageClasses", "accelerators")


def discover(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of a datacenter.")
    ] = None,
    *,
    everywhere: Annotated[
        bool, typer.Option("--all", help="Discover every datacenter of the project.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Remove queues, claims, storage classes and accelerators that are not there.",
        ),
    ] = False,
    dry_run: config_file.DryRun = False,
    cluster: options.Cluster,
) -> int:
    """
    Write a cluster's queues and storages into the project.

    Adds queues, storages, storage classes and accelerators that the project file lacks, and a new
    datacenter with --context and -n. Existing values stay, except with --prune those that the
    cluster no longer has. What you may not list is kept.

    \b
    paddlespec config discover dc1 --dry-run
    paddlespec config discover dc2 --context k8s-dc2 -n ads
    paddlespec config discover --all --prune
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.output import report_failure
    from paddlespec.cli.shared.write_files import difference
    from paddlespec.runs.failures import OperationFailed

    given = {"context": cluster.context, "namespace": cluster.namespace}
    if everywhere == (name is not None) or (everywhere and any(given.values())):
        message = (
            "--all goes with no name, --context or -n" if everywhere else "no datacenter given"
        )
        raise Stop(Exit.usage, message, "give one name, or only --all")
    before = file = config_file.opened(project=True)
    names = [name] if name else [one["name"] for one in before.data.get(before.holder) or ()]
    codes = []
    with Engines(cluster.request()) as engines:
        for one in names:
            try:
                engine, _ = engines.of_connection(one)
                features = needed(engine.capabilities.features, engine, "config discover")
                found = _found(features, one if everywhere else "")
            except OperationFailed as error:
                if not everywhere:
                    raise
                codes.append(report_failure(one, error))
                continue
            values = {"name": one, **{key: text for key, text in given.items() if text}}
            file = _completed(file, values, found)
            if prune:
                file = _pruned(file, one, found)
    if dry_run:
        write.text(difference(file.path, before.text, file.text))
    else:
        file.write_and_note()
    return worst(codes)


def _found(features: Features, datacenter: str) -> dict[str, Any]:
    """What the cluster offers; what the user may not see is left out with a note."""
    from paddlespec.cli.shared.output import note
    from paddlespec.runs.failures import OperationFailed

    found: dict[str, Any] = {}
    place = f"{datacenter}: " if datacenter else ""
    for key, what, listed in (
        ("queues", "queues", features.queues()),
        ("storages", "storages", features.claims()),
        ("storageClasses", "storage classes", features.storage_classes()),
        ("accelerators", "accelerators", features.accelerators()),
    ):
        if isinstance(listed, OperationFailed):
            note(f"{place}{what} skipped: {listed.message}")
        else:
            found[key] = listed
    if "queues" in found:
        found["queues"] = {queue: queue for queue in found["queues"]}
    if "storages" in found:
        found["storages"] = {
            _label(claim): {"claim": claim, **({"readOnly": True} if state["readOnly"] else {})}
            for claim, state in found["storages"].items()
        }
    return found


def _completed(file: Edited, given: dict[str, str], found: dict[str, Any]) -> Edited:
    """The file with what it lacks; a queue or claim under another name is not added again."""
    from paddlespec.diagnostic import Span

    span = Span(given["name"])
    if file.position_of(given["name"]) is None:
        listed = file.data.get(file.holder)
        action: Action = "append" if listed else "set"
        file = file.put((file.holder,), given if listed else [given], span, action)
    index, there = _entry(file, given["name"])
    queues, storages = there.get("queues") or {}, there.get("storages") or {}
    claimed = {storage.get("claim") for storage in storages.values()}
    for name, queue in found.get("queues", {}).items():
        if name not in queues and queue not in queues.values():
            file = file.put((file.holder, index, "queues", name), queue, span)
    for name, value in found.get("storages", {}).items():
        if name not in storages and value["claim"] not in claimed:
            file = file.put((file.holder, index, "storages", name), value, span)
    for key in _LISTS:
        more = [one for one in found.get(key, ()) if one not in (there.get(key) or ())]
        if more:
            path = (file.holder, index, key)
            file = file.put(path, [*(there.get(key) or ()), *more], span)
    return file


def _pruned(file: Edited, name: str, found: dict[str, Any]) -> Edited:
    """The file without what the cluster no longer has; storages with a URL are elsewhere."""
    from paddlespec.diagnostic import Span

    index, there = _entry(file, name)
    claims = {value["claim"] for value in found.get("storages", {}).values()}
    gone: list[Path] = []
    if "queues" in found:
        queues = there.get("queues") or {}
        gone += [("queues", key) for key in queues if queues[key] not in found["queues"]]
    if "storages" in found:
        gone += [
            ("storages", key)
            for key, value in (there.get("storages") or {}).items()
            if "claim" in value and value["claim"] not in claims
        ]
    for path in gone:
        file = file.put((file.holder, index, *path), None, Span(name), "remove")
    for key in _LISTS:
        listed = there.get(key) or []
        kept = [one for one in listed if one in found.get(key, listed)]
        if kept != listed:
            path = (file.holder, index, key)
            file = file.put(path, kept, Span(name), "set" if kept else "remove")
    return file


def _entry(file: Edited, name: str) -> tuple[int, dict[str, Any]]:
    """The index of a datacenter in the file, and its values."""
    index = file.position_of(name)
    assert index is not None
    return index, file.data[file.holder][index]


def _label(name: str) -> str:
    return _OTHER.sub("-", name).strip("-")[:63].strip("-")
