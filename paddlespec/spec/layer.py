"""
Merge layers into one document.

Mappings merge by key. Lists whose items all have a `name` merge by name, `patches` are appended,
and other lists are replaced. A tombstone (`null`) unsets the value of lower layers and is kept
until all layers are merged. Merging is associative: a collection that replaced a value of another
type is marked `whole`, so it also replaces the values of still lower layers.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from paddlespec.spec.document import Document, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.diagnostic import Path

VOLUME_SOURCES = frozenset(
    ("claim", "storage", "hostPath", "nfs", "cephfs", "emptyDir", "configMap", "secret")
)
_VOLUME_KINDS = tuple(frozenset((source,)) for source in sorted(VOLUME_SOURCES))
_ENV_KINDS = (
    frozenset(("secret",)),
    frozenset(("configMap",)),
    frozenset(("field",)),
    frozenset(("resource", "divisor")),
    frozenset(("value", "sensitive")),
)


def merge(layers: Iterable[Document]) -> Document:
    """Merge *layers*, lowest first; tombstones are kept."""
    return reduce(lambda lower, upper: Document(*_merge(lower, upper, ())), layers)


def settle(document: Document) -> Document:
    """
    Remove the tombstones of *document*.

    A null under `parameters` marks a required value, and one in `patches` belongs to the patch;
    both are kept.
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
        if kinds := _kinds(path):
            return _merge_unions(lower, upper, path, kinds)
        return _merge_mappings(lower, upper, path)
    if isinstance(data, list) and isinstance(lower.data, list):
        if _inside(path) == ("patches",):
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
    where = {item["name"]: index for index, item in enumerate(data)}
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


def _inside(path: Path) -> Path:
    """Return *path* relative to the spec or profile that contains it."""
    depth = {"spec": 1, "profiles": 2}.get(str(path[0]), len(path)) if path else 0
    return path[depth:]


_VOLUME_LISTS: tuple[Path, ...] = (
    ("volumes",),
    ("trainers", "volumes"),
    ("pservers", "volumes"),
)


def _lists_volumes(path: Path) -> bool:
    """Whether *path*, inside a spec, is a list of volumes: of the spec, or of one of its roles."""
    of_role = len(path) == 3 and (path[0], path[2]) == ("roles", "volumes")
    return of_role or path in _VOLUME_LISTS


def _kinds(path: Path) -> tuple[frozenset[str], ...]:
    """Return the keys that select the kind of the tagged union at *path*, if it is one."""
    inside = _inside(path)
    if _lists_volumes(inside[:-1]):
        return _VOLUME_KINDS
    return _ENV_KINDS if len(inside) > 1 and inside[-2] == "env" else ()


def _kind(data: dict[str, Any], kinds: tuple[frozenset[str], ...]) -> frozenset[str]:
    """
    Return the kind of a union, one of *kinds*.

    A key that is unset counts as absent if another kind is set.
    """
    present = [kind for kind in kinds if kind & data.keys()]
    chosen = [kind for kind in present if any(data.get(key) is not None for key in kind)] or present
    return frozenset().union(*(chosen if kinds is _VOLUME_KINDS else chosen[:1]))


def _merge_unions(
    lower: Document, upper: Document, path: Path, kinds: tuple[frozenset[str], ...]
) -> tuple[Any, Place]:
    """
    Merge two unions: one of another kind replaces the lower one; a volume keeps its name and mount.

    A member set below the kind belongs to the kind below it: with `{secret}` over `{key}` over
    `{configMap}`, the key is that of the ConfigMap.
    """
    lower, upper = _tidied(lower, kinds), _tidied(upper, kinds)
    before, after = _kind(lower.data, kinds), _kind(upper.data, kinds)
    changes = bool(before and after) and before != after
    if kinds is _VOLUME_KINDS:
        base = _without_members(VOLUME_SOURCES, lower) if changes else lower
        data, place = _merge_mappings(base, upper, path)
        return data, _whole_members(place, VOLUME_SOURCES) if changes else place
    if changes:
        above, _ = _members(upper.place)
        loose = frozenset(key for key, child in above.items() if child.loose)
        data, place = _without_members(loose, upper)
        return data, _whole(place)
    data, place = _merge_mappings(lower, upper, path)
    return data, _loosen(place, upper, settled=bool(before)) if before or after else place


def _tidied(document: Document, kinds: tuple[frozenset[str], ...]) -> Document:
    """Remove the tombstones of all other kinds from a union."""
    kind = _kind(document.data, kinds)
    others = frozenset().union(*kinds) - kind
    unset = frozenset(key for key in others & document.data.keys() if document.data[key] is None)
    return _without_members(unset, document) if unset else document


def of_one_kind(document: Document, key: str, path: Path) -> Document:
    """Remove the members of a union at *path* that setting *key* replaces."""
    kinds = _kinds(path)
    before, after = _kind(document.data, kinds), _kind({key: None}, kinds)
    if not before or not after or before == after:
        return document
    is_volume = kinds is _VOLUME_KINDS
    return _without_members(VOLUME_SOURCES if is_volume else frozenset(document.data), document)


def _without_members(keys: frozenset[str], document: Document) -> Document:
    place = document.place
    children, marks = _members(place)
    data = {key: member for key, member in document.data.items() if key not in keys}
    children = {key: children[key] for key in data}
    marks = {key: marks[key] for key in data if key in marks}
    return Document(data, Place(place.origin, place.start, None, children, marks, place.whole))


def _loosen(place: Place, upper: Document, *, settled: bool) -> Place:
    """Mark the loose members of a merged union; *settled* if the lower layer had a kind."""
    children, keys = _members(place)
    for key, child in children.items():
        below = key not in upper.data
        loose = (below and child.loose) if settled else (below or child.loose)
        if loose != child.loose:
            children[key] = Place(
                child.origin, child.start, child.end, child.children, child.keys, child.whole, loose
            )
    return Place(place.origin, place.start, None, children, keys, place.whole)


def _whole_members(place: Place, tags: frozenset[str]) -> Place:
    children, keys = _members(place)
    for key in tags & children.keys():
        children[key] = _whole(children[key])
    return Place(place.origin, place.start, None, children, keys, place.whole)


def _whole(place: Place) -> Place:
    return Place(place.origin, place.start, place.end, place.children, place.keys, whole=True)


def _named(items: list[Any]) -> bool:
    """Whether *items* all have distinct names; an empty list does not and replaces lower items."""
    names = [item.get("name") for item in items if isinstance(item, dict)]
    return (
        bool(items)
        and len(names) == len(items)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
    )


def _members(place: Place) -> tuple[dict[str, Place], dict[str, Any]]:
    children = place.children if isinstance(place.children, dict) else {}
    return dict(children), dict(place.keys or {})


def _items(place: Place) -> list[Place]:
    return list(place.children) if isinstance(place.children, list) else []


def _settle(data: Any, place: Place, path: Path) -> tuple[Any, Place]:
    if _inside(path) == ("patches",):
        return data, place
    if isinstance(data, dict):
        children, keys = _members(place)
        settled = {}
        for key, value in data.items():
            if value is None and _inside(path) != ("parameters",):
                children.pop(key, None)
                continue
            settled[key], children[key] = _settle(value, children[key], (*path, key))
        return settled, Place(place.origin, place.start, None, children, keys, place.whole)
    if isinstance(data, list):
        items = [_settle(item, where, path) for item, where in zip(data, _items(place))]
        children_ = [settled[1] for settled in items]
        return [settled[0] for settled in items], Place(place.origin, place.start, None, children_)
    return data, place
