"""
Layers: how documents become one.

Maps merge by key. Lists whose items all have a `name` merge by name, `patches` append, other
lists replace. A tombstone (`null`) hides what lies below and stays until the last layer is merged.
Merging is associative: a value that hid something else than a mapping or list like itself is
marked `whole`, so that it goes on hiding what still lower layers say.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from paddlespec.document import Document, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.diagnostic import Path

VOLUME_SOURCES = frozenset(
    ("claim", "hostPath", "nfs", "cephfs", "emptyDir", "configMap", "secret")
)
_ENV_KINDS = (frozenset(("secret",)), frozenset(("configMap",)), frozenset(("value", "sensitive")))


def merge(layers: Iterable[Document]) -> Document:
    """All *layers*, lowest first, as one document; tombstones are kept."""
    return reduce(lambda lower, upper: Document(*_merge(lower, upper, ())), layers)


def settle(document: Document) -> Document:
    """
    *document* without its tombstones.

    Under `parameters` a null means required, inside of `patches` it belongs to the patch: both stay.
    """
    if not _holds_null(document.data):
        return document
    return Document(*_settle(document.data, document.place, ()))


def _holds_null(data: Any) -> bool:
    if isinstance(data, dict):
        return any(map(_holds_null, data.values()))
    if isinstance(data, list):
        return any(map(_holds_null, data))
    return data is None


def _merge(lower: Document, upper: Document, path: Path) -> tuple[Any, Place]:
    data, place = upper
    if place.whole:
        return data, place
    if isinstance(data, dict) and isinstance(lower.data, dict):
        if _changes_kind(lower.data, data, path):
            return _change_kind(lower, upper, path)
        return _merge_mappings(lower, upper, path)
    if isinstance(data, list) and isinstance(lower.data, list):
        if path == ("spec", "patches"):
            return _append(lower, upper)
        if _named(lower.data) and _named(data):
            return _merge_named(lower, upper, path)
    if isinstance(data, (dict, list)):
        return data, _whole(place)
    return data, place


def _merge_mappings(lower: Document, upper: Document, path: Path) -> tuple[Any, Place]:
    data = dict(lower.data)
    children, keys = _members(lower.place)
    above, above_keys = _members(upper.place)
    for key, value in upper.data.items():
        if key in data:
            below = Document(data[key], children[key])
            data[key], children[key] = _merge(below, Document(value, above[key]), (*path, key))
        else:
            data[key], children[key] = value, above[key]
        if key in above_keys:
            keys[key] = above_keys[key]
    place = upper.place
    return data, Place(place.origin, place.start, None, children, keys, lower.place.whole)


def _merge_named(lower: Document, upper: Document, path: Path) -> tuple[Any, Place]:
    data, children = list(lower.data), _items(lower.place)
    where = {each["name"]: index for index, each in enumerate(data)}
    for value, place in zip(upper.data, _items(upper.place)):
        index = where.get(value["name"])
        if index is None:
            data.append(value)
            children.append(place)
        else:
            below = Document(data[index], children[index])
            item = (*path, value["name"])
            data[index], children[index] = _merge(below, Document(value, place), item)
    place = upper.place
    return data, Place(place.origin, place.start, None, children, None, lower.place.whole)


def _append(lower: Document, upper: Document) -> tuple[Any, Place]:
    children = [*_items(lower.place), *_items(upper.place)]
    place = upper.place
    whole = lower.place.whole
    return [*lower.data, *upper.data], Place(place.origin, place.start, None, children, None, whole)


def _kind(data: dict[str, Any], path: Path) -> frozenset[str]:
    """Which kind of a tagged union *data* is: a volume's source, an env reference's."""
    if len(path) == 3 and path[:2] == ("spec", "volumes"):
        return VOLUME_SOURCES & data.keys()
    if len(path) > 2 and path[-2] == "env" and path[0] == "spec":
        return next((kind for kind in _ENV_KINDS if kind & data.keys()), frozenset())
    return frozenset()


def _changes_kind(lower: dict[str, Any], upper: dict[str, Any], path: Path) -> bool:
    before, after = _kind(lower, path), _kind(upper, path)
    return bool(before and after) and before != after


def _change_kind(lower: Document, upper: Document, path: Path) -> tuple[Any, Place]:
    """A union of another kind replaces the lower one; a volume keeps its name and mount."""
    tags = VOLUME_SOURCES if path[1] == "volumes" else frozenset(lower.data)
    kept = {key: value for key, value in lower.data.items() if key not in tags}
    children, keys = _members(lower.place)
    base = Place(
        lower.place.origin,
        lower.place.start,
        None,
        {key: children[key] for key in kept},
        {key: keys[key] for key in kept if key in keys},
        lower.place.whole,
    )
    data, place = _merge_mappings(Document(kept, base), upper, path)
    return data, _whole_members(place, tags) if path[1] == "volumes" else _whole(place)


def _whole_members(place: Place, tags: frozenset[str]) -> Place:
    children, keys = _members(place)
    for key in tags & children.keys():
        children[key] = _whole(children[key])
    return Place(place.origin, place.start, None, children, keys, place.whole)


def _whole(place: Place) -> Place:
    return Place(place.origin, place.start, place.end, place.children, place.keys, whole=True)


def _named(items: list[Any]) -> bool:
    """Whether *items* all have distinct names; an empty list clears what lies below."""
    names = [each.get("name") for each in items if isinstance(each, dict)]
    return (
        bool(items)
        and len(names) == len(items)
        and all(isinstance(each, str) for each in names)
        and len(set(names)) == len(names)
    )


def _members(place: Place) -> tuple[dict[str, Place], dict[str, Any]]:
    children = place.children if isinstance(place.children, dict) else {}
    return dict(children), dict(place.keys or {})


def _items(place: Place) -> list[Place]:
    return list(place.children) if isinstance(place.children, list) else []


def _settle(data: Any, place: Place, path: Path) -> tuple[Any, Place]:
    if path == ("spec", "patches"):
        return data, place
    if isinstance(data, dict):
        children, keys = _members(place)
        settled = {}
        for key, value in data.items():
            if value is None and path != ("spec", "parameters"):
                children.pop(key, None)
                continue
            settled[key], children[key] = _settle(value, children[key], (*path, key))
        return settled, Place(place.origin, place.start, None, children, keys, place.whole)
    if isinstance(data, list):
        items = [_settle(each, where, path) for each, where in zip(data, _items(place))]
        children_ = [each[1] for each in items]
        return [each[0] for each in items], Place(place.origin, place.start, None, children_)
    return data, place
