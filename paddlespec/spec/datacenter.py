"""
Replace the names that a datacenter defines: queues, and storages of volumes.

A spec names `queue: default` or `storage: home`; the datacenter of the project file says which queue
and which claim that is. The effective document holds only the real names, with their origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Diagnostic, Path, Severity, did_you_mean
from paddlespec.spec.document import Document, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUEUE: Path = ("spec", "scheduling", "queue")
_SCHEDULER: Path = ("spec", "scheduling", "scheduler")
_DEFAULT = "default"


class Resolved(NamedTuple):
    """A document with the real names of queues and claims."""

    document: Document
    diagnostics: list[Diagnostic]


def resolve(document: Document, datacenter: Document | None) -> Resolved:
    """Replace the names in *document* that *datacenter*, an entry of the project file, defines."""
    diagnostics: list[Diagnostic] = []
    document = _with_queue(document, datacenter, diagnostics)
    for path, volume in _stored(document):
        storage = _storage(document, path, volume["storage"], datacenter)
        if isinstance(storage, Diagnostic):
            diagnostics.append(storage)
        else:
            document = _put(document, path, _mounted(document, path, storage))
    return Resolved(document, diagnostics)


def _with_queue(
    document: Document, datacenter: Document | None, diagnostics: list[Diagnostic]
) -> Document:
    """Replace the name of a queue; a scheduler with queues gets the default one."""
    queues = datacenter.part("queues") if datacenter else None
    if queues is None or not isinstance(queues.data, dict):
        return document
    name = document.at(_QUEUE)
    if name is None and document.at(_SCHEDULER) in ("kueue", "volcano"):
        name = _DEFAULT
    elif not isinstance(name, str):
        return document
    queue = queues.part(name)
    if queue is not None:
        return _put(document, _QUEUE, queue)
    if document.at(_QUEUE) is not None and name not in queues.data.values():
        message = f'the datacenter has no queue "{name}"; the name is used unchanged'
        hint = did_you_mean(name, list(queues.data)) or f"use one of {', '.join(queues.data)}"
        span = document.locate(_QUEUE)
        diagnostics.append(Diagnostic("queue", message, span, _QUEUE, hint, Severity.warning))
    return document


def _stored(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the volumes that name a storage and no other source, with their path."""
    named = document.at(("spec", "roles"))
    roles: list[Path] = [("spec", "trainers"), ("spec", "pservers")]
    roles += [("spec", "roles", name) for name in named] if isinstance(named, dict) else []
    for path in ((*holder, "volumes") for holder in (("spec",), *roles)):
        volumes = document.at(path)
        for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
            if isinstance(volume, dict) and isinstance(volume.get("storage"), str):
                yield (*path, index), volume


def _storage(
    document: Document, path: Path, name: str, datacenter: Document | None
) -> Document | Diagnostic:
    """Return the storage *name* with its claim, or why it cannot be mounted."""
    path = (*path, "storage")

    def refused(message: str, hint: str) -> Diagnostic:
        return Diagnostic("storage", message, document.locate(path), path, hint)

    if datacenter is None:
        return refused(
            f'storage "{name}" is defined by a datacenter, but none is selected',
            "select one with --datacenter, or set `datacenter` in .paddlespec.yaml",
        )
    place, known = datacenter.data["name"], datacenter.at(("storages",)) or {}
    storage = datacenter.part("storages", name)
    if storage is None:
        hint = did_you_mean(name, list(known))
        hint = hint or (f"use one of {', '.join(known)}" if known else "add it to .paddlespec.yaml")
        return refused(f'datacenter {place} has no storage "{name}"', hint)
    if storage.at(("claim",)) is None:
        return refused(
            f'storage "{name}" of datacenter {place} has no claim to mount',
            "add `claim` to the storage, or pass its URL to the program in `env`",
        )
    if storage.at(("readOnly",)) and document.at((*path[:-1], "readOnly")) is False:
        return refused(
            f'storage "{name}" of datacenter {place} is read-only', "remove `readOnly: false`"
        )
    return storage


def _mounted(document: Document, path: Path, storage: Document) -> Document:
    """Return the volume at *path* with the claim of *storage* instead of its name."""
    volume = document.part(*path)
    assert volume is not None
    for key in ("claim", "readOnly"):
        value = storage.part(key)
        if value is not None and volume.data.get(key) is None:
            volume = _put(volume, (key,), value)
    children = dict(_children(volume.place))
    keys = dict(volume.place.keys or {})
    del children["storage"]
    # A finding about the claim points at the name that the spec gives.
    if "storage" in keys:
        keys["claim"] = keys.pop("storage")
    data = {key: value for key, value in volume.data.items() if key != "storage"}
    return Document(data, Place(volume.place.origin, volume.place.start, None, children, keys))


def _put(document: Document, path: Path, value: Document) -> Document:
    """Return *document* with *value* at *path*, whose parents may be missing."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    place = document.place
    if isinstance(document.data, list) and isinstance(head, int):
        items, places = list(document.data), list(_items(place))
        items[head], places[head] = _put(Document(items[head], places[head]), rest, value)
        return Document(items, Place(place.origin, place.start, place.end, places, None))
    data = dict(document.data) if isinstance(document.data, dict) else {}
    children = dict(_children(place))
    below = Document(data.get(str(head)), children.get(str(head)) or value.place)
    data[str(head)], children[str(head)] = _put(below, rest, value)
    return Document(data, Place(place.origin, place.start, place.end, children, place.keys))


def _children(place: Place) -> dict[str, Place]:
    return place.children if isinstance(place.children, dict) else {}


def _items(place: Place) -> list[Place]:
    return place.children if isinstance(place.children, list) else []
