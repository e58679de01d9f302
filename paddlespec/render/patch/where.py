"""Locate the part of a patch that writes a field of the patched object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.render.patch.strategic import index_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.diagnostic import Path


def written(path: Path, patch: Any, after: Any, *, is_strategic: bool) -> Path:
    """Return the path in *patch* of what writes *path* of the object *after*, as far as it goes."""
    if not isinstance(patch, list):
        return tuple(_merged(path, patch, after, is_strategic=is_strategic))
    parts = [str(part) for part in path]
    writers = [index for index, operation in enumerate(patch) if _writes(operation, parts)]
    return _operation(path, writers[-1], patch[writers[-1]]) if writers else ()


def _merged(path: Path, patch: Any, after: Any, *, is_strategic: bool) -> Iterator[str | int]:
    """Follow *path* in a patch whose lists may have fewer items than those of the object."""
    for depth, part in enumerate(path):
        if isinstance(part, int):
            if not isinstance(patch, list) or not isinstance(after, list) or part >= len(after):
                return
            index = index_of(after[part], part, patch, path[:depth]) if is_strategic else part
            if index is None or index >= len(patch):
                return
            part, after, patch = index, after[part], patch[index]
        else:
            if not isinstance(patch, dict) or part not in patch:
                return
            after = after.get(part) if isinstance(after, dict) else None
            patch = patch[part]
        yield part


def _operation(path: Path, index: int, operation: dict[str, Any]) -> Path:
    """Locate *path* in the value of an operation of a JSON patch, or in its path."""
    from paddlespec.render.patch.pointer import tokens_of

    rest = path[len(tokens_of(operation["path"])) :]
    if "value" not in operation or not rest:
        return (index, "value" if operation["op"] == "replace" else "path")
    inside = tuple(_merged(rest, operation["value"], operation["value"], is_strategic=False))
    return (index, "value", *inside)


def _writes(operation: dict[str, Any], parts: list[str]) -> bool:
    """Whether *operation* writes at, above or below the parts of a path."""
    from paddlespec.render.patch.pointer import tokens_of

    if operation["op"] == "test":
        return False
    pointers = [operation["path"], *([operation["from"]] if operation["op"] == "move" else [])]
    return any(_meet(tokens, parts) for tokens in map(tokens_of, pointers))


def _meet(tokens: list[str], parts: list[str]) -> bool:
    """Whether one is the beginning of the other; `-` is the end of a list."""
    return all(
        token == part or (token == "-" and part.isdecimal()) for token, part in zip(tokens, parts)
    )
