"""
The part of a live object that we applied, according to the API server's managed fields.

If a dry run is refused, our manifest is compared with this part, which excludes the server's
defaults and fields set by others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.change.desired import applied_fields
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest

_QUANTITIES = ("limits", "requests", "sizeLimit", "divisor")
# Defaults inside values that are owned as a whole: a field reference, a pod condition.
_DEFAULTS = {"apiVersion": "v1", "status": "True", "divisor": "0"}


def own(live: Manifest, ours: Manifest) -> Manifest:
    """Return the fields of *live* that we own, spelled as in *ours* where they are equivalent."""
    fields: dict[str, Any] = {}
    for entry in applied_fields(live):
        fields = _united(fields, entry)
    owned: Manifest = _owned(live, fields, ours) if fields else {}
    named = {key: live["metadata"][key] for key in ("name", "namespace")}
    return {
        "apiVersion": live["apiVersion"],
        "kind": live["kind"],
        **owned,
        "metadata": {**named, **owned.get("metadata", {})},
    }


def _united(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        **one,
        **{key: _united(one.get(key, {}), nested) for key, nested in other.items()},
    }


def _owned(value: Any, fields: dict[str, Any], ours: Any, *, counts: bool = False) -> Any:
    """Return the part of *value* in *fields*: members `f:`, items by key `k:` or value `v:`."""
    inner = {key: nested for key, nested in fields.items() if key != "."}
    if not inner:
        return type(value)() if fields else _spelled(value, ours, counts=counts)
    if isinstance(value, dict):
        return _members(value, inner, ours if isinstance(ours, dict) else {}, counts=counts)
    if isinstance(value, list):
        return _items(value, inner, ours if isinstance(ours, list) else [])
    return value


def _members(
    value: dict[str, Any], fields: dict[str, Any], ours: dict[str, Any], *, counts: bool
) -> dict[str, Any]:
    owned = {}
    for key, nested in fields.items():
        name = key.removeprefix("f:")
        if name in value:
            owned[name] = _owned(
                value[name], nested, ours.get(name), counts=counts or name in _QUANTITIES
            )
        elif name in ours and not ours[name]:
            # The server does not store an empty value, but we own it.
            owned[name] = ours[name]
    return owned


def _items(value: list[Any], fields: dict[str, Any], ours: list[Any]) -> list[Any]:
    keyed = {key: json.loads(key[2:]) for key in fields if key.startswith("k:")}
    plain = [json.loads(key[2:]) for key in fields if key.startswith("v:")]
    owned = []
    for item in value:
        if item in plain:
            owned.append(item)
            continue
        for key, names in keyed.items():
            if _has(item, names):
                same = next((other for other in ours if _has(other, names)), None)
                owned.append(_owned(item, fields[key], same))
    return owned


def _has(item: Any, names: dict[str, Any]) -> bool:
    """Report whether *item* has these keys; a missing key stands for a default of the server."""
    return isinstance(item, dict) and all(
        item.get(key, value) == value for key, value in names.items()
    )


def _spelled(value: Any, ours: Any, *, counts: bool) -> Any:
    """Return *value* as *ours* spells it, if they are equivalent."""
    if isinstance(value, dict) and isinstance(ours, dict):
        members = {
            key: _spelled(member, ours.get(key), counts=counts or key in _QUANTITIES)
            for key, member in value.items()
            if key in ours or _DEFAULTS.get(key) != member
        }
        return {**{key: default for key, default in ours.items() if not default}, **members}
    if isinstance(value, list) and isinstance(ours, list) and len(value) == len(ours):
        return [_spelled(item, other, counts=counts) for item, other in zip(value, ours)]
    return ours if counts and _amount(value) == _amount(ours) else value


def _amount(value: Any) -> Any:
    try:
        return quantity(value)
    except (ValueError, TypeError, ArithmeticError):
        return value
