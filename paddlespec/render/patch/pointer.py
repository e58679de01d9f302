"""Apply JSON patches (RFC 6902) with jsonpatch, limit their size, and locate their errors."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import EndOfList, JsonPointer, JsonPointerException

from paddlespec.diagnostic import did_you_mean
from paddlespec.render.patch.value import PatchFailed, kind
from paddlespec.spec.source import MAX_DEPTH, MAX_NODES

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEEDS = {"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from"}


def json_patch(before: dict[str, Any], operations: Sequence[dict[str, Any]]) -> Any:
    """
    Apply *operations* to *before*, all or none.

    The size and depth of the object are limited, because copies could double it repeatedly and
    moves could nest it.
    """
    document, room = copy.deepcopy(before), MAX_NODES
    for index, operation in enumerate(operations):
        try:
            room -= _growth(document, operation, room)
            document = _applied(document, operation)
        except PatchFailed as error:
            name = f"{operation['op']} {operation['path']}"
            message = f"operation {index + 1} ({name}): {error.message}"
            raise PatchFailed(message, (index, *error.path), error.hint) from None
    _size(document, MAX_NODES)
    return document


def tokens_of(pointer: str, key: str = "path") -> list[str]:
    """Split a JSON pointer, the value of *key* in an operation, into its parts."""
    try:
        return list(JsonPointer(pointer).parts)
    except JsonPointerException:
        message, hint = f'pointer "{pointer}" does not start with /', f"use /{pointer}"
        if pointer.startswith("/"):
            message, hint = f'invalid ~ in pointer "{pointer}"', "write ~ as ~0"
        raise PatchFailed(message, (key,), hint) from None


def _growth(document: Any, operation: dict[str, Any], room: int) -> int:
    """Return the number of values that *operation* adds; at most *room* are allowed."""
    op = operation["op"]
    needed = _NEEDS.get(op)
    if needed == "from" and operation.get("from") is None:
        raise PatchFailed(f"{op} requires from")
    if needed == "value" and "value" not in operation:
        raise PatchFailed(f"{op} requires value", (), "use `value: null` for an empty value")
    if needed == "from":
        source = _at(document, tokens_of(operation["from"], "from"), "from")
        return _size(source, room) if op == "copy" else 0
    return _size(operation["value"], room) if op in ("add", "replace") else 0


def _applied(document: Any, operation: dict[str, Any]) -> Any:
    """Apply *operation* to *document* in place, and return it or the document that replaces it."""
    try:
        return JsonPatch([operation]).apply(document, in_place=True)
    except (JsonPatchException, JsonPointerException):
        raise _reason(document, operation) from None


def _reason(document: Any, operation: dict[str, Any]) -> PatchFailed:
    """Return why the library rejects *operation*, whose members are complete."""
    op, tokens = operation["op"], tokens_of(operation["path"])
    if op == "move" and operation["path"].startswith(operation["from"] + "/"):
        return PatchFailed("a value cannot be moved into itself", ("from",))
    if op in ("add", "copy", "move"):
        return _nothing(tokens, _at(document, tokens[:-1], "path"), "path")
    actual, expected = kind(_at(document, tokens, "path")), kind(operation.get("value"))
    if op != "test":
        return PatchFailed("the whole object cannot be removed", ("path",))
    reason = "is different" if actual == expected else f"is {actual}, not {expected}"
    return PatchFailed(f"test failed: the value {reason}", ("value",))


def _at(document: Any, tokens: Sequence[str], key: str) -> Any:
    """Return the value at *tokens*; the error names the first token without a value."""
    value = document
    for index, token in enumerate(tokens):
        try:
            inner = JsonPointer("").walk(value, token)
        except JsonPointerException:
            inner = EndOfList(value)
        if isinstance(inner, EndOfList):
            raise _nothing(tokens[: index + 1], value, key)
        value = inner
    return value


def _nothing(tokens: Sequence[str], parent: Any, key: str) -> PatchFailed:
    """Report a pointer whose last token does not exist in *parent*."""
    where, hint = JsonPointer.from_parts(tokens).path, None
    if isinstance(parent, dict):
        hint = did_you_mean(tokens[-1], parent) or "add a missing parent first, as `{}`"
    elif isinstance(parent, list):
        end = ", or - to append" if key == "path" else ""
        hint = f"use an index below {len(parent)}{end}"
    else:
        where += f", whose parent is {kind(parent)}"
    return PatchFailed(f"no value at {where}", (key,), hint)


def _size(value: Any, most: int) -> int:
    """Count the values in *value*, without recursion because moves allow any depth."""
    count, level = 0, [value]
    for _ in range(2 * MAX_DEPTH):
        count += len(level)
        if count > most:
            raise PatchFailed(f"the object would have more than {MAX_NODES} values")
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return count
    raise PatchFailed(f"the object would have more than {2 * MAX_DEPTH} levels")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
