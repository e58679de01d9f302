"""
Merge a mapping into an object: strategic merge patch of Kubernetes, and RFC 7386.

Strategic merge uses the merge keys of the API's lists. Lists keep their order and new items are
appended, while kubectl inserts them first: an appended variable may then refer to earlier ones with
`$(VAR)`, and the first container stays the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Path, did_you_mean, dotted
from paddlespec.render.patch.value import PatchFailed, identity, kind

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTAINERS = ("containers", "initContainers", "ephemeralContainers")

# `patchMergeKey` of k8s.io/api v0.36 for the kinds of a job. All other lists are atomic, for example
# tolerations, envFrom, podFailurePolicy.rules and volumeClaimTemplates.
_MERGE_KEYS = {
    **dict.fromkeys(CONTAINERS, "name"),
    "conditions": "type",
    "env": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "ownerReferences": "uid",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_SETS = ("finalizers",)
_PATCH, _RETAIN = "$patch", "$retainKeys"
_ORDER, _DELETE = "$setElementOrder/", "$deleteFromPrimitiveList/"
_DIRECTIVES = (_PATCH, _RETAIN, _ORDER, _DELETE)
_MODES = ("delete", "merge", "replace")


def strategic_merge(before: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Merge *patch* into *before* by the rules of the Kubernetes API."""
    return _mapping(before, patch, ())


def json_merge(before: Any, patch: Any) -> Any:
    """Merge *patch* into *before* by RFC 7386: mappings merge, other values replace."""
    if not isinstance(patch, dict):
        return patch
    after = dict(before) if isinstance(before, dict) else {}
    for key, value in patch.items():
        if value is None:
            after.pop(key, None)
        else:
            after[key] = json_merge(after.get(key), value)
    return after


def index_of(item: Any, position: int, patch: list[Any], path: Path) -> int | None:
    """Return which item of *patch*, a list at *path*, wrote the *item* at *position*."""
    if key := _merge_key(path):
        name = _key_of(item, key)
        same = [index for index, written in enumerate(patch) if _key_of(written, key) == name]
    else:
        same = [index for index, written in enumerate(patch) if written != {_PATCH: "replace"}]
        same = same[position : position + 1]
    return same[0] if same else None


def directives(patch: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of directives, which only a strategic merge supports."""
    if isinstance(patch, dict):
        for key, value in patch.items():
            if key.startswith(_DIRECTIVES):
                yield (*path, key)
            yield from directives(value, (*path, key))
    elif isinstance(patch, list):
        for index, item in enumerate(patch):
            yield from directives(item, (*path, index))


def _mapping(before: dict[str, Any], patch: dict[str, Any], path: Path) -> dict[str, Any]:
    mode = _mode(patch, path)
    if mode == "delete":
        return {}
    after = {} if mode == "replace" else _retained(before, patch, path)
    for key, value in patch.items():
        if key.startswith(_DELETE):
            _delete(after, key, value, path)
        elif key.startswith("$") and not key.startswith(_DIRECTIVES):
            hint = did_you_mean(key, _DIRECTIVES)
            raise PatchFailed(f"unknown directive {key}", (*path, key), hint)
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None or (_deletes(value) and after.get(key) is None):
            after.pop(key, None)
        else:
            after[key] = _value(after.get(key), value, (*path, key))
    for key, value in patch.items():
        if key.startswith(_ORDER):
            _order(after, key, value, path)
    return after


def _mode(patch: dict[str, Any], path: Path) -> str:
    mode = patch.get(_PATCH, "merge")
    if mode in _MODES:
        return str(mode)
    raise PatchFailed(f"$patch must be one of {', '.join(_MODES)}", (*path, _PATCH))


def _deletes(value: Any) -> bool:
    return isinstance(value, dict) and value.get(_PATCH) == "delete"


def _value(before: Any, patch: Any, path: Path) -> Any:
    if before is not None and (isinstance(before, dict), isinstance(before, list)) != (
        isinstance(patch, dict),
        isinstance(patch, list),
    ):
        message = f"{dotted(path)} is {kind(before)} in the object, but {kind(patch)} in the patch"
        raise PatchFailed(message, path)
    if isinstance(patch, dict):
        return _mapping(before or {}, patch, path)
    if not isinstance(patch, list):
        return patch
    key = _merge_key(path)
    if key:
        return _keyed(before or [], patch, key, path)
    if path[-1] in _SETS:
        return _union(before or [], patch, path)
    return list(_atomic(patch, path))


def _atomic(patch: list[Any], path: Path) -> Iterator[Any]:
    for index, item in enumerate(patch):
        if _deletes(item):
            hint = "use a JSON patch to remove an item of this list"
            message = f"{dotted(path)} has no merge key and is replaced as a whole"
            raise PatchFailed(message, (*path, index), hint)
        if item != {_PATCH: "replace"}:
            yield _value(None, item, (*path, index))


def _merge_key(path: Path) -> str | None:
    if path[-1] != "ports":
        return _MERGE_KEYS.get(str(path[-1]))
    if path == ("spec", "ports"):
        return "port"
    return "containerPort" if len(path) > 3 and path[-3] in CONTAINERS else None


def _keyed(before: list[Any], patch: list[Any], key: str, path: Path) -> list[Any]:
    names = [_name(item, key, (*path, index)) for index, item in enumerate(patch)]
    deleted = {name for name, item in zip(names, patch) if _deletes(item)}
    after = [] if None in names else [item for item in before if _key_of(item, key) not in deleted]
    positions: dict[Any, int] = {}
    for index, item in enumerate(after):
        positions.setdefault(_key_of(item, key), index)
    seen = set()
    for index, (name, item) in enumerate(zip(names, patch)):
        if name is None or _deletes(item):
            continue
        if name in seen:
            message = f"{dotted(path)} has two items with {key} {name[1]}"
            hint = "keep one of them, or use a JSON patch"
            raise PatchFailed(message, (*path, index, key), hint)
        seen.add(name)
        if name in positions:
            position = positions[name]
            after[position] = _mapping(after[position], item, (*path, index))
        else:
            after.append(_mapping({}, item, (*path, index)))
    return after


def _name(item: Any, key: str, path: Path) -> Any:
    """Return the merge key of an item; None for `$patch: replace`, which replaces the list."""
    if item == {_PATCH: "replace"}:
        return None
    if not isinstance(item, dict):
        raise PatchFailed(f"{dotted(path)} must be a mapping, not {kind(item)}", path)
    _mode(item, path)
    name = _key_of(item, key)
    if name is None:
        hint = f"add `{key}`, the merge key of {path[-2]}"
        raise PatchFailed(f"{dotted(path)} has no {key}", path, hint)
    return name


def _key_of(item: Any, key: str) -> Any:
    return identity(item.get(key)) if isinstance(item, dict) else None


def _union(before: list[Any], patch: list[Any], path: Path) -> list[Any]:
    after = list(before)
    present = {identity(item) for item in before}
    for index, item in enumerate(patch):
        name = identity(item)
        if name is None:
            raise PatchFailed(f"{dotted(path)} must contain only scalars", (*path, index))
        if name not in present:
            present.add(name)
            after.append(item)
    return after


def _retained(before: dict[str, Any], patch: dict[str, Any], path: Path) -> dict[str, Any]:
    """Apply `$retainKeys`, which must list all keys of the patch, as in the API."""
    if _RETAIN not in patch:
        return dict(before)
    kept = _texts(patch[_RETAIN], (*path, _RETAIN))
    for key, value in patch.items():
        if value is not None and not key.startswith("$") and key not in kept:
            raise PatchFailed(
                f"$retainKeys does not list {key}, which the patch sets", (*path, key)
            )
    return {key: value for key, value in before.items() if key in kept}


def _texts(value: Any, path: Path) -> list[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise PatchFailed(f"{path[-1]} requires a list of strings", path)


def _delete(after: dict[str, Any], key: str, values: Any, path: Path) -> None:
    target = key[len(_DELETE) :]
    deleted = _scalars(values, (*path, key))
    present = after.get(target)
    if present is None:
        return
    _scalars(present, (*path, key), target)
    after[target] = [item for item in present if identity(item) not in deleted]


def _scalars(value: Any, path: Path, name: str = "the value") -> set[Any]:
    if isinstance(value, list):
        scalars = {identity(item) for item in value}
        if None not in scalars:
            return scalars
    hint = "use `$patch: delete` to remove items that are mappings"
    raise PatchFailed(f"{path[-1]}: {name} must be a list of scalars", path, hint)


def _order(after: dict[str, Any], key: str, order: Any, path: Path) -> None:
    """Sort the items that *order* names; the others keep their positions."""
    target = key[len(_ORDER) :]
    present = after.get(target)
    if not isinstance(order, list):
        raise PatchFailed(f"{key} requires a list", (*path, key))
    if not isinstance(present, list):
        return
    by = _merge_key((*path, target))
    rank: dict[Any, int] = {}
    for index, item in enumerate(order):
        rank.setdefault(_key_of(item, by) if by else identity(item), index)
    names = [_key_of(item, by) if by else identity(item) for item in present]
    places = [index for index, name in enumerate(names) if name in rank]
    ordered = list(present)
    for place, source in zip(places, sorted(places, key=lambda index: rank[names[index]])):
        ordered[place] = present[source]
    after[target] = ordered
