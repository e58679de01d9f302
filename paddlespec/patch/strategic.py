"""
Merging a mapping into an object: Kubernetes' strategic merge patch, and RFC 7386.

Strategic merge knows which lists of the API merge by which key. Lists keep their order and new
items come last, where kubectl puts them first: what is appended to `env` may use `$(VAR)` of what
stands before it, and the first container stays the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Path, did_you_mean, dotted
from paddlespec.patch.value import PatchFailed, identity, kind

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTAINERS = ("containers", "initContainers", "ephemeralContainers")

# `patchMergeKey` in k8s.io/api v0.36, of the kinds that a job can consist of. Every other list is
# atomic: among them tolerations, envFrom, podFailurePolicy.rules and volumeClaimTemplates.
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
    """*before* with *patch* merged in by the rules of the Kubernetes API."""
    return _mapping(before, patch, ())


def json_merge(before: Any, patch: Any) -> Any:
    """*before* with *patch* merged in as RFC 7386 says: mappings merge, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    after = dict(before) if isinstance(before, dict) else {}
    for key, value in patch.items():
        if value is None:
            after.pop(key, None)
        else:
            after[key] = json_merge(after.get(key), value)
    return after


def directives(patch: Any, path: Path = ()) -> Iterator[Path]:
    """Where *patch* has directives, which only a strategic merge understands."""
    if isinstance(patch, dict):
        for key, value in patch.items():
            if key.startswith(_DIRECTIVES):
                yield (*path, key)
            yield from directives(value, (*path, key))
    elif isinstance(patch, list):
        for index, each in enumerate(patch):
            yield from directives(each, (*path, index))


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
            raise PatchFailed(f"{key} is not a directive", (*path, key), hint)
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
    raise PatchFailed(f"$patch is one of {', '.join(_MODES)}", (*path, _PATCH))


def _deletes(value: Any) -> bool:
    return isinstance(value, dict) and value.get(_PATCH) == "delete"


def _value(before: Any, patch: Any, path: Path) -> Any:
    if before is not None and (isinstance(before, dict), isinstance(before, list)) != (
        isinstance(patch, dict),
        isinstance(patch, list),
    ):
        message = f"{dotted(path)} is {kind(before)} in the object, {kind(patch)} in the patch"
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
    for index, each in enumerate(patch):
        if _deletes(each):
            hint = "this list is replaced as a whole; a JSON patch removes one item"
            raise PatchFailed(f"{dotted(path)} has no merge key", (*path, index), hint)
        if each != {_PATCH: "replace"}:
            yield _value(None, each, (*path, index))


def _merge_key(path: Path) -> str | None:
    if path[-1] != "ports":
        return _MERGE_KEYS.get(str(path[-1]))
    if path == ("spec", "ports"):
        return "port"
    return "containerPort" if len(path) > 3 and path[-3] in CONTAINERS else None


def _keyed(before: list[Any], patch: list[Any], key: str, path: Path) -> list[Any]:
    names = [_name(each, key, (*path, index)) for index, each in enumerate(patch)]
    gone = {name for name, each in zip(names, patch) if _deletes(each)}
    after = [] if None in names else [each for each in before if _key_of(each, key) not in gone]
    where: dict[Any, int] = {}
    for index, each in enumerate(after):
        where.setdefault(_key_of(each, key), index)
    seen = set()
    for index, (name, each) in enumerate(zip(names, patch)):
        if name is None or _deletes(each):
            continue
        if name in seen:
            message = f"{dotted(path)} has two items with {key} {name[1]}"
            hint = "the API merges them into one; give each once, or write the patch as a list"
            raise PatchFailed(message, (*path, index, key), hint)
        seen.add(name)
        if name in where:
            after[where[name]] = _mapping(after[where[name]], each, (*path, index))
        else:
            after.append(_mapping({}, each, (*path, index)))
    return after


def _name(item: Any, key: str, path: Path) -> Any:
    """The merge key of an item of a patch; none for `$patch: replace` alone: the whole list."""
    if item == {_PATCH: "replace"}:
        return None
    if not isinstance(item, dict):
        raise PatchFailed(f"{dotted(path)}: expected a mapping, found {kind(item)}", path)
    _mode(item, path)
    name = _key_of(item, key)
    if name is None:
        hint = f"the items of {path[-2]} are told apart by {key}"
        raise PatchFailed(f"{dotted(path)} has no {key}", path, hint)
    return name


def _key_of(item: Any, key: str) -> Any:
    return identity(item.get(key)) if isinstance(item, dict) else None


def _union(before: list[Any], patch: list[Any], path: Path) -> list[Any]:
    after = list(before)
    present = {identity(each) for each in before}
    for index, each in enumerate(patch):
        name = identity(each)
        if name is None:
            raise PatchFailed(f"{dotted(path)} is a list of plain values", (*path, index))
        if name not in present:
            present.add(name)
            after.append(each)
    return after


def _retained(before: dict[str, Any], patch: dict[str, Any], path: Path) -> dict[str, Any]:
    """What `$retainKeys` leaves; like the API, it must name all that the patch sets."""
    if _RETAIN not in patch:
        return dict(before)
    kept = _texts(patch[_RETAIN], (*path, _RETAIN))
    for key, value in patch.items():
        if value is not None and not key.startswith("$") and key not in kept:
            raise PatchFailed(f"$retainKeys leaves out {key}, which the patch sets", (*path, key))
    return {key: value for key, value in before.items() if key in kept}


def _texts(value: Any, path: Path) -> list[str]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise PatchFailed(f"{path[-1]} needs a list of texts", path)


def _delete(after: dict[str, Any], key: str, values: Any, path: Path) -> None:
    target = key[len(_DELETE) :]
    gone = _scalars(values, (*path, key))
    present = after.get(target)
    if present is None:
        return
    _scalars(present, (*path, key), target)
    after[target] = [each for each in present if identity(each) not in gone]


def _scalars(value: Any, path: Path, name: str = "it") -> set[Any]:
    if isinstance(value, list):
        found = {identity(each) for each in value}
        if None not in found:
            return found
    hint = "items that are mappings are removed with `$patch: delete`"
    raise PatchFailed(f"{path[-1]}: {name} is not a list of plain values", path, hint)


def _order(after: dict[str, Any], key: str, wanted: Any, path: Path) -> None:
    """Put the items that *wanted* names into its order; the others keep their places."""
    target = key[len(_ORDER) :]
    present = after.get(target)
    if not isinstance(wanted, list):
        raise PatchFailed(f"{key} needs a list", (*path, key))
    if not isinstance(present, list):
        return
    by = _merge_key((*path, target))
    rank: dict[Any, int] = {}
    for index, each in enumerate(wanted):
        rank.setdefault(_key_of(each, by) if by else identity(each), index)
    names = [_key_of(each, by) if by else identity(each) for each in present]
    places = [index for index, name in enumerate(names) if name in rank]
    ordered = list(present)
    for place, source in zip(places, sorted(places, key=lambda index: rank[names[index]])):
        ordered[place] = present[source]
    after[target] = ordered
