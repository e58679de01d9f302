"""
Patches: the spec's escape hatch, applied to what a target rendered.

What a patch does is looked at afterwards, so that one rule holds for every kind of patch: an
object that it would break stays as it was rendered, and all other patches still go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Diagnostic, Path
from paddlespec.manifest import role
from paddlespec.patch.guard import Refusal, refusals
from paddlespec.patch.pointer import json_patch, tokens_of
from paddlespec.patch.strategic import directives, json_merge, strategic_merge
from paddlespec.patch.value import PatchFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.document import Document
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job

# The groups of k8s.io/api with a domain; jobset.x-k8s.io and gateway.networking.k8s.io are none.
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
_MOST_LISTED = 8


def apply_patches(
    manifests: Sequence[Manifest], job: Job, document: Document, target: str
) -> tuple[list[Manifest], list[Diagnostic]]:
    """
    *manifests* with the patches of *job* for *target*, and what was wrong with the patches.

    The manifests given are left alone; what no patch changes is shared with them.
    """
    patched, found = list(manifests), []
    for index, patch in enumerate(job.spec.patches):
        if patch.when.target not in (None, target):
            continue
        path: Path = ("spec", "patches", index)
        wanted = {
            key: value
            for key in ("kind", "name", "role")
            if (value := getattr(patch.target, key)) is not None
        }
        # By what was rendered, which no patch can have changed.
        matching = [
            place
            for place, each in enumerate(manifests)
            if all(_traits(each)[key] == value for key, value in wanted.items())
        ]
        if not matching:
            found.append(_no_match(manifests, wanted, document, path))
        for place in matching:
            after, findings = _patch(patched[place], document, (*path, "patch"))
            patched[place] = after
            found += findings
    return patched, found


def _traits(manifest: Manifest) -> dict[str, str | None]:
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    return {"kind": kind, "name": name, "role": role(manifest)}


def _no_match(
    manifests: Sequence[Manifest], wanted: dict[str, str], document: Document, path: Path
) -> Diagnostic:
    """The finding of a patch without an object, at the field that alone matches none."""
    traits = [_traits(each) for each in manifests]
    where = (*path, "target")
    for key, value in wanted.items():
        if all(each[key] != value for each in traits):
            where = (*where, key)
            break
    asked = ", ".join(f"{key} {value}" for key, value in wanted.items())
    message = f"the patch matches nothing: no object has {asked}"
    listed = [
        f"{each['kind']} {each['name']}" + (f" ({each['role']})" if each["role"] else "")
        for each in traits
    ]
    more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    hint = f"rendered are {', '.join(listed[:_MOST_LISTED])}{more}" if listed else None
    return Diagnostic("patch-no-match", message, document.locate(where), where, hint)


def _patch(before: Manifest, document: Document, path: Path) -> tuple[Manifest, list[Diagnostic]]:
    """*before* patched, or itself and the reasons why not."""
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
    refused = [_refused(each, patch, name, document, path) for each in refusals(before, after)]
    return (before, refused) if refused else (after, [])


def _applied(before: Manifest, patch: Any) -> Any:
    if isinstance(patch, list):
        return json_patch(before, patch)
    if is_built_in(before["apiVersion"]):
        return strategic_merge(before, patch)
    for path in directives(patch):
        message = f"{path[-1]} has no meaning for {before['apiVersion']}"
        hint = "custom resources take a JSON merge patch, or a list of JSON patch operations"
        raise PatchFailed(message, path, hint)
    return json_merge(before, patch)


def is_built_in(api_version: str) -> bool:
    """Whether Kubernetes itself defines the objects of *api_version*."""
    group, slash, _ = api_version.partition("/")
    return not slash or "." not in group or group in _BUILT_IN


def _refused(refusal: Refusal, patch: Any, name: str, document: Document, path: Path) -> Diagnostic:
    where = (*path, *_written(refusal.path, patch))
    span = document.locate(where)
    return Diagnostic("patch-refused", f"{name}: {refusal.message}", span, where, refusal.hint)


def _written(path: Path, patch: Any) -> Path:
    """Where in *patch* stands what touches *path* of the object."""
    if isinstance(patch, list):
        wanted = [str(part) for part in path]
        touching = [index for index, each in enumerate(patch) if _touches(each, wanted)]
        return (touching[-1], "path") if touching else ()
    return tuple(_down_to_a_list(path))


def _touches(operation: dict[str, Any], wanted: list[str]) -> bool:
    """Whether *operation* writes at, above or below the parts of a path."""
    if operation["op"] == "test":
        return False
    pointers = [operation["path"], *([operation["from"]] if operation["op"] == "move" else [])]
    return any(
        tokens[: len(wanted)] == wanted[: len(tokens)] for tokens in map(tokens_of, pointers)
    )


def _down_to_a_list(path: Path) -> Iterator[str]:
    """The start of *path*; a merged list has other indices than the list in the patch."""
    for part in path:
        if isinstance(part, int):
            return
        yield part
