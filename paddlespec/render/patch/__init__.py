"""
Apply the patches of a spec to rendered manifests.

The result of a patch is validated, so the same rules hold for all kinds of patches. An object that
a patch would break is kept unpatched, and all other patches are still applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Diagnostic, Path
from paddlespec.render.manifest import role
from paddlespec.render.patch.defaults import give_way
from paddlespec.render.patch.fields import field_faults
from paddlespec.render.patch.guard import Refusal, refusals
from paddlespec.render.patch.strategic import directives, json_merge, strategic_merge
from paddlespec.render.patch.value import PatchFailed
from paddlespec.render.patch.where import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.model import Job
    from paddlespec.render.manifest import Manifest
    from paddlespec.spec.document import Document

# The built-in groups with a domain; jobset.x-k8s.io and gateway.networking.k8s.io are not built in.
_BUILT_IN = frozenset(
    f"{name}.k8s.io"
    for name in (
        "admissionregistration",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
    )
)
_MAX_LISTED = 8


def apply_patches(
    manifests: Sequence[Manifest], job: Job, document: Document, target: str
) -> tuple[list[Manifest], list[Diagnostic]]:
    """
    Apply the patches of *job* for *target* to *manifests*; also returns the errors of the patches.

    The manifests passed in are not modified; unpatched parts are shared with the result.
    """
    patched, diagnostics = list(manifests), []
    for index, patch in enumerate(job.spec.patches):
        if patch.when.target not in (None, target):
            continue
        path: Path = ("spec", "patches", index)
        selector = {
            key: value
            for key in ("kind", "name", "role")
            if (value := getattr(patch.target, key)) is not None
        }
        # Patches match the rendered objects, not those changed by earlier patches.
        matches = [
            number
            for number, manifest in enumerate(manifests)
            if all(_traits(manifest)[key] == value for key, value in selector.items())
        ]
        if not matches:
            diagnostics.append(_no_match(manifests, selector, document, path))
        for number in matches:
            patched[number], faults = _patch(patched[number], document, (*path, "patch"))
            diagnostics += faults
    # Objects of several roles have the same fields.
    return patched, list(dict.fromkeys(diagnostics))


def _traits(manifest: Manifest) -> dict[str, str | None]:
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    return {"kind": kind, "name": name, "role": role(manifest)}


def _no_match(
    manifests: Sequence[Manifest], selector: dict[str, str], document: Document, path: Path
) -> Diagnostic:
    """Report a patch that matches no object, at the field that excludes all objects."""
    traits = [_traits(manifest) for manifest in manifests]
    where = (*path, "target")
    for key, value in selector.items():
        if all(trait[key] != value for trait in traits):
            where = (*where, key)
            break
    requested = ", ".join(f'{key} "{value}"' for key, value in selector.items())
    message = f"the patch matches no object with {requested}"
    listed = [
        f"{trait['kind']} {trait['name']}" + (f" ({trait['role']})" if trait["role"] else "")
        for trait in traits
    ]
    more = f" and {len(listed) - _MAX_LISTED} more" if len(listed) > _MAX_LISTED else ""
    hint = f"select one of {', '.join(listed[:_MAX_LISTED])}{more}" if listed else None
    return Diagnostic("patch-no-match", message, document.locate(where), where, hint)


def _patch(before: Manifest, document: Document, path: Path) -> tuple[Manifest, list[Diagnostic]]:
    """Apply a patch to one object; on errors, the object is returned unchanged."""
    patch = document.at(path)
    name = f"{before['kind']} {before['metadata']['name']}"
    try:
        after = _applied(before, patch)
    except PatchFailed as error:
        where = (*path, *error.path)
        message = f"{name}: {error.message}"
        return before, [
            Diagnostic("patch-failed", message, document.locate(where), where, error.hint)
        ]
    is_strategic = is_built_in(before["apiVersion"])

    def report(code: str, refusal: Refusal, message: str, *, is_key: bool = False) -> Diagnostic:
        inside = written(refusal.path, patch, after, is_strategic=is_strategic)
        where = (*path, *inside)
        is_key = is_key and inside[-1:] == refusal.path[-1:]
        span = document.locate_key(where) if is_key else document.locate(where)
        return Diagnostic(code, message, span, where, refusal.hint)

    reported = [
        report("patch-refused", refusal, f"{name}: {refusal.message}")
        for refusal in refusals(before, after)
    ]
    reported = reported or [
        report("patch-field", fault.refusal, fault.refusal.message, is_key=fault.is_key)
        for fault in field_faults(before, after)
    ]
    return (before, reported) if reported else (after, [])


def _applied(before: Manifest, patch: Any) -> Any:
    if isinstance(patch, list):
        from paddlespec.render.patch.pointer import json_patch

        return give_way(before, json_patch(before, patch))
    if is_built_in(before["apiVersion"]):
        return give_way(before, strategic_merge(before, patch))
    for path in directives(patch):
        message = f"{path[-1]} is not supported for {before['apiVersion']}"
        hint = "use a JSON merge patch or a JSON patch for custom resources"
        raise PatchFailed(message, path, hint)
    return give_way(before, json_merge(before, patch))


def is_built_in(api_version: str) -> bool:
    """Whether *api_version* is part of Kubernetes itself."""
    group, slash, _ = api_version.partition("/")
    return not slash or "." not in group or group in _BUILT_IN
