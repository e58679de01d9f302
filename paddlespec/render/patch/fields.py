"""
Check patched objects against the fields of the Kubernetes API, without a cluster.

The API server drops or refuses fields it does not know. Objects of unknown kinds are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import did_you_mean, dotted
from paddlespec.render import shape
from paddlespec.render.patch.guard import Refusal
from paddlespec.render.patch.value import kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.diagnostic import Path
    from paddlespec.render.manifest import Manifest
    from paddlespec.validator import Error

_TYPES = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "array": "a list",
    "object": "a mapping",
}


class FieldFault(NamedTuple):
    """A field that the API does not take; `is_key` is true if its name is wrong, not its value."""

    refusal: Refusal
    is_key: bool


def field_faults(before: Manifest, after: Manifest) -> list[FieldFault]:
    """Return the fields of *after* that the API does not take, unless *before* has them, too."""
    known = shape.published(after["apiVersion"], after["kind"])
    if known is None or known.wrong(after) is None:
        return []
    own = {refusal.path for fault in known.faults(before) for refusal in _refusals(fault, before)}
    return [
        FieldFault(refusal, fault.keyword == "additionalProperties")
        for fault in known.faults(after)
        for refusal in _refusals(fault, after)
        if refusal.path not in own
    ]


def _refusals(fault: Error, manifest: Manifest) -> Iterator[Refusal]:
    path, node = fault.path, fault.node
    if fault.keyword == "additionalProperties":
        owner = f"{manifest['apiVersion']} {manifest['kind']}"
        for name in fault.keys:
            message = f"{_shown((*path, name))} is not a field of a {owner}"
            yield Refusal(message, (*path, name), _unknown(name, list(node["properties"]), owner))
        return
    where, value = _shown(path), _value(manifest, path)
    if fault.keyword == "required":
        missing = (*path, fault.keys[0])
        yield Refusal(f"{_shown(missing)} is required", missing)
    elif fault.keyword == "enum":
        choices = [choice for choice in node["enum"] if choice]
        hint = did_you_mean(value, choices) if isinstance(value, str) else None
        yield Refusal(f"{where} must be one of {', '.join(choices)}", path, hint)
    elif fault.keyword == "type" and "pattern" not in node:
        names = " or ".join(_TYPES[name] for name in node["type"] if name != "null")
        hint = (
            "quote it" if "string" in node["type"] and not isinstance(value, (dict, list)) else None
        )
        yield Refusal(f"{where} must be {names}, not {kind(value)}", path, hint)
    else:
        yield Refusal(f"{where} is not a quantity", path, "write it as 500m, 2 or 4Gi, for example")


def _unknown(name: str, known: list[str], owner: str) -> str:
    place = f"Kubernetes {shape.api_version()}" if "." not in owner else owner
    return did_you_mean(name, known) or f"remove it: {place} has no such field here"


def _shown(path: Path) -> str:
    return dotted(path) or "the object"


def _value(manifest: Any, path: Path) -> Any:
    for part in path:
        manifest = manifest[part]
    return manifest
