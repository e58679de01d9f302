"""
Reject patches that change the identity of an object, its links to others, or break it.

Objects, `status`, `logs`, `apply` and `--prune` find objects by names and labels. Some fields are
set by `apply` alone. The API server rejects an object with two list items of the same key. What the
variables of replicas build on is guarded in `contract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Path, dotted
from paddlespec.render.patch import contract
from paddlespec.render.patch.strategic import CONTAINERS
from paddlespec.render.patch.value import kind, mappings, same

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "set `metadata` of the spec instead, or select other objects in `target`"
_LABEL = "use another prefix for your own labels"
_APPLY = "remove it: the field is set by `apply`"
_TIE = "remove it: the field links the objects of the job"
_FIXED: dict[Path, str] = {
    ("apiVersion",): _TIE,
    ("kind",): "use another --target for another kind of object",
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
_MANAGED = (
    "app.kubernetes.io/",
    "paddlespec.io/",
    "applyset.kubernetes.io/",
    *contract.INDEXES,
)
_POD_SPECS = ("spec", "network")
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
    """A change that a patch must not make, and its path in the object."""

    message: str
    path: Path
    hint: str | None = None


def refusals(before: dict[str, Any], after: Any) -> Iterator[Refusal]:
    """Yield the reasons why *after* must not replace *before*."""
    if not isinstance(after, dict):
        yield Refusal(f"an object cannot become {kind(after)}", ())
        return
    for path in _ALWAYS_MAPPINGS:
        value = _at(after, path)
        if value is not None and not isinstance(value, dict):
            yield Refusal(f"{dotted(path)} must be a mapping, not {kind(value)}", path)
    old, new = _guarded(before), _guarded(after)
    for path in dict.fromkeys((*old, *new)):
        if not same(old.get(path), new.get(path)):
            verb = "set" if path not in old else "changed" if path in new else "removed"
            hint = _FIXED.get(path, _LABEL if path[-1] != "subdomain" else _TIE)
            yield Refusal(f"{dotted(path)} cannot be {verb} by a patch", path, hint)
    for broken in contract.broken(before, after):
        yield Refusal(*broken)
    known = set(_duplicates(before))
    for path, key in dict.fromkeys(_duplicates(after)):
        if (path, key) not in known:
            yield Refusal(f"{dotted(path)} would have two items with {key}", path)


def _guarded(manifest: dict[str, Any]) -> dict[Path, Any]:
    """Return the guarded values of *manifest* by path."""
    guarded = {path: value for path in _FIXED if (value := _at(manifest, path)) is not None}
    for path, mapping in mappings(manifest):
        if path[-2:] in (("metadata", "labels"), ("metadata", "annotations")):
            for key, value in mapping.items():
                if key.startswith(_MANAGED):
                    guarded[(*path, key)] = value
        elif path[-1:] and path[-1] in _POD_SPECS and mapping.get("subdomain") is not None:
            guarded[(*path, "subdomain")] = mapping["subdomain"]
    return guarded


def _duplicates(manifest: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield keys that several items of one list have, with the path of the list."""
    for path, mapping in mappings(manifest):
        containers: set[str] = set()
        for field, items in mapping.items():
            if not isinstance(items, list):
                continue
            # All kinds of containers share one set of names.
            seen: set[str] = containers if field in CONTAINERS else set()
            for item in items:
                for key in _keys(field, item) if isinstance(item, dict) else ():
                    if key in seen:
                        yield (*path, field), key
                    seen.add(key)


def _keys(field: str, item: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of an item that must be unique in its list."""
    if field == "ports":
        yield from (f"name {item['name']}" for _ in range("name" in item))
        for number in ("containerPort", "port"):
            if number in item:
                yield f"{number} {item[number]}, protocol {item.get('protocol') or 'TCP'}"
        return
    keys = ("name",) if field in CONTAINERS else _KEYS.get(field, ())
    if keys and keys[0] in item:
        yield ", ".join(f"{key} {item.get(key)}" for key in keys)


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value
