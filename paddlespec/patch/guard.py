"""
What no patch may change: all that identifies an object, ties it to others or would break it.

Names and labels are how objects find each other and how `status`, `logs`, `apply` and `--prune`
find them; what only `apply` can know is not a patch's to say; and of two list items with one key
the API server refuses the object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Path, dotted
from paddlespec.patch.strategic import CONTAINERS
from paddlespec.patch.value import kind, same

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "names are the spec's: set `metadata` there, or target the objects of another name"
_LABEL = "labels of your own, under another prefix, are free"
_APPLY = "only apply knows it: leave it out"
_TIE = "it holds the objects of the job together: leave it out"
_FIXED: dict[Path, str] = {
    ("apiVersion",): _TIE,
    ("kind",): "another kind of object is another --target",
    ("metadata", "name"): _NAME,
    ("metadata", "generateName"): _NAME,
    ("metadata", "namespace"): _NAME,
    ("metadata", "uid"): _APPLY,
    ("metadata", "resourceVersion"): _APPLY,
    ("metadata", "managedFields"): _APPLY,
    ("metadata", "ownerReferences"): _APPLY,
    ("spec", "suspend"): _APPLY,
    ("spec", "selector"): _TIE,
    ("spec", "serviceName"): _TIE,
}
_ALWAYS_MAPPINGS: tuple[Path, ...] = (
    ("metadata",),
    ("metadata", "labels"),
    ("metadata", "annotations"),
)
_MANAGED = ("app.kubernetes.io/", "paddlespec.io/", "applyset.kubernetes.io/")
_SPECS = ("spec", "network")
_KEYS: dict[str, tuple[str, ...]] = {
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "replicatedJobs": ("name",),
    "tasks": ("name",),
}


class Refusal(NamedTuple):
    """What a patch must not do, and where in the object it does it."""

    message: str
    path: Path
    hint: str | None = None


def refusals(before: dict[str, Any], after: Any) -> Iterator[Refusal]:
    """Why *after* may not take the place of *before*."""
    if not isinstance(after, dict):
        yield Refusal(f"the object may not become {kind(after)}", ())
        return
    for path in _ALWAYS_MAPPINGS:
        value = _at(after, path)
        if value is not None and not isinstance(value, dict):
            yield Refusal(f"{dotted(path)} is a mapping, not {kind(value)}", path)
    old, new = _facts(before), _facts(after)
    for path in dict.fromkeys((*old, *new)):
        if not same(old.get(path), new.get(path)):
            verb = "set" if path not in old else "changed" if path in new else "removed"
            hint = _FIXED.get(path, _LABEL if path[-1] != "subdomain" else _TIE)
            yield Refusal(f"{dotted(path)} may not be {verb} by a patch", path, hint)
    known = set(_repeats(before))
    for path, key in dict.fromkeys(_repeats(after)):
        if (path, key) not in known:
            yield Refusal(f"{dotted(path)} gets two items with {key}", path)


def _facts(manifest: dict[str, Any]) -> dict[Path, Any]:
    """Everything guarded that is in *manifest*, by its path."""
    found = {path: value for path in _FIXED if (value := _at(manifest, path)) is not None}
    for path, mapping in _mappings(manifest, ()):
        if path[-2:] in (("metadata", "labels"), ("metadata", "annotations")):
            for key, value in mapping.items():
                if key.startswith(_MANAGED):
                    found[(*path, key)] = value
        elif path[-1:] and path[-1] in _SPECS and mapping.get("subdomain") is not None:
            found[(*path, "subdomain")] = mapping["subdomain"]
    return found


def _repeats(manifest: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """The keys that items of one list share, each with the path of the list."""
    for path, mapping in _mappings(manifest, ()):
        containers: set[str] = set()
        for field, items in mapping.items():
            if not isinstance(items, list):
                continue
            # Kinds of containers share one set of names.
            seen: set[str] = containers if field in CONTAINERS else set()
            for item in items:
                for key in _keys(field, item) if isinstance(item, dict) else ():
                    if key in seen:
                        yield (*path, field), key
                    seen.add(key)


def _keys(field: str, item: dict[str, Any]) -> Iterator[str]:
    """What must be the item's alone among those of its list."""
    if field == "ports":
        yield from (f"name {item['name']}" for _ in range("name" in item))
        for number in ("containerPort", "port"):
            if number in item:
                yield f"{number} {item[number]}, protocol {item.get('protocol') or 'TCP'}"
        return
    keys = ("name",) if field in CONTAINERS else _KEYS.get(field, ())
    if keys and keys[0] in item:
        yield ", ".join(f"{key} {item.get(key)}" for key in keys)


def _mappings(value: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
        for key, each in value.items():
            if isinstance(each, (dict, list)):
                yield from _mappings(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, (dict, list)):
                yield from _mappings(each, (*path, index))


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value
