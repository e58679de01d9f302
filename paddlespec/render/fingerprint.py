"""
The fingerprint of a job, which is equal for specs with the same pods.

It is computed from the spec instead of the manifests, so a new version of paddlespec does not rerun
jobs; and only from fields that affect pods, so labels and policies do not either.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paddlespec.render import runtime
from paddlespec.spec.frozen import without_defaults

if TYPE_CHECKING:
    from paddlespec.model import Job, Package
    from paddlespec.render.runtime import Context

# Fields that are hashed in another form, or not at all.
_EXCLUDED = ("package", "parameters", "allowManagedEnv", "workspace", "policy", "target", "patches")
_LENGTH = 16


def fingerprint(job: Job, context: Context, target: str) -> str:
    """Return a short hash of everything that affects the pods of *job*."""
    from hashlib import sha256

    text = json.dumps(_pod_fields(job, context, target), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:_LENGTH]


def _pod_fields(job: Job, context: Context, target: str) -> dict[str, Any]:
    """
    Return the fields that affect pods, without default values.

    A field added by a later version is then absent from today's specs, and fingerprints stay equal.
    """
    spec = job.spec
    fields: dict[str, Any] = without_defaults(spec)
    hashed = {key: value for key, value in fields.items() if key not in _EXCLUDED}
    hashed["volumes"] = [_volume(volume) for volume in fields.get("volumes", ())]
    hashed["output"] = runtime.output(job)
    hashed["package"] = _package(spec.package, context)
    hashed["target"] = target
    hashed["datacenter"] = context.datacenter
    hashed["patches"] = [
        without_defaults(patch) for patch in spec.patches if patch.when.target in (None, target)
    ]
    if spec.mode == "legacy":
        hashed["passes"] = spec.parameters.get("passes")
    return {key: value for key, value in hashed.items() if value not in (None, [], {})}


def _volume(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a mount, without the size of a new claim."""
    return {**fields, "claim": {}} if isinstance(fields.get("claim"), dict) else fields


def _package(package: Package | None, context: Context) -> dict[str, Any] | None:
    """Return the fields of the code: its content if it is delivered, otherwise its path."""
    if package is None:
        return None
    fields: dict[str, Any] = without_defaults(package)
    fields.pop("exclude", None)
    if context.code is None:
        return fields
    for key in ("path", "delivery"):
        fields.pop(key, None)
    return {**fields, "requirements": context.code.requirements, "content": context.code.digest}
