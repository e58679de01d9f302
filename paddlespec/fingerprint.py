"""
The fingerprint of a job: whether two specs make the same pods.

It is taken of what the spec says and never of what is rendered, so that another version of this
tool runs nothing again; and only of what shapes pods, so that labels and policies do not either.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paddlespec import contract
from paddlespec.record import without_defaults

if TYPE_CHECKING:
    from paddlespec.contract import Context
    from paddlespec.model import Job, Package

# What is looked at in another form, or not at all.
_APART = ("package", "parameters", "allowManagedEnv", "workspace", "policy", "target", "patches")
_LENGTH = 16


def fingerprint(job: Job, context: Context, target: str) -> str:
    """A short hash of what shapes the pods of *job*."""
    from hashlib import sha256

    text = json.dumps(_shape(job, context, target), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:_LENGTH]


def _shape(job: Job, context: Context, target: str) -> dict[str, Any]:
    """
    What shapes the pods, without what is said by default.

    A field that a later version adds is therefore absent from the specs of today.
    """
    spec = job.spec
    said: dict[str, Any] = without_defaults(spec)
    found = {key: value for key, value in said.items() if key not in _APART}
    found["volumes"] = [_volume(each) for each in said.get("volumes", ())]
    found["output"] = contract.output(job)
    found["package"] = _package(spec.package, context)
    found["target"] = target
    found["datacenter"] = context.datacenter
    found["patches"] = [
        without_defaults(each) for each in spec.patches if each.when.target in (None, target)
    ]
    if spec.mode == "legacy":
        found["passes"] = spec.parameters.get("passes")
    return {key: value for key, value in found.items() if value not in (None, [], {})}


def _volume(said: dict[str, Any]) -> dict[str, Any]:
    """A mount; how large a new claim is, no pod knows."""
    return {**said, "claim": {}} if isinstance(said.get("claim"), dict) else said


def _package(package: Package | None, context: Context) -> dict[str, Any] | None:
    """The code: by its content where it travels, or else by its place."""
    if package is None:
        return None
    said: dict[str, Any] = without_defaults(package)
    said.pop("exclude", None)
    if context.code is None:
        return said
    for key in ("path", "delivery"):
        said.pop(key, None)
    return {**said, "requirements": context.code.requirements, "content": context.code.digest}
