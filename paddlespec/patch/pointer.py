"""JSON patch (RFC 6902): operations on the places that JSON pointers (RFC 6901) name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import did_you_mean
from paddlespec.patch.value import PatchFailed, kind, same
from paddlespec.source import MOST_DEPTH, MOST_NODES

if TYPE_CHECKING:
    from collections.abc import Sequence

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_BAD_ESCAPE = re.compile(r"~(?![01])")
_NEEDS = {
    "add": ("path", "value"),
    "remove": ("path",),
    "replace": ("path", "value"),
    "move": ("from", "path"),
    "copy": ("from", "path"),
    "test": ("path", "value"),
}
_MISSING = object()


def json_patch(before: dict[str, Any], operations: Sequence[dict[str, Any]]) -> Any:
    """
    *before* with *operations* applied, all or none.

    Copies could double an object again and again, moves bury it: both are bounded.
    """
    work = _Work(before)
    for index, operation in enumerate(operations):
        work.step(index, operation)
    _size(work.root, MOST_NODES)
    return work.root


def tokens_of(pointer: str) -> list[str]:
    """The parts of a JSON pointer."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise PatchFailed(f'"{pointer}" does not begin with /', hint=f"write /{pointer}")
    if _BAD_ESCAPE.search(pointer):
        raise PatchFailed(f'"{pointer}" has a ~ that is neither ~0 nor ~1', hint="write ~ as ~0")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


class _Work:
    """A copy of an object under change."""

    def __init__(self, before: dict[str, Any]) -> None:
        self.root: Any = _copied(before)
        self.left = MOST_NODES

    def step(self, index: int, operation: dict[str, Any]) -> None:
        """Apply one operation; its failure names it."""
        try:
            self.apply(operation)
        except PatchFailed as error:
            name = f"{operation.get('op')} {operation.get('path')}"
            message = f"operation {index + 1} ({name}): {error.message}"
            raise PatchFailed(message, (index, *error.path), error.hint) from None

    def apply(self, operation: dict[str, Any]) -> None:
        op = operation.get("op")
        if op not in _NEEDS:
            raise PatchFailed(f"op is one of {', '.join(_NEEDS)}", ("op",))
        for key in _NEEDS[op]:
            if key not in operation or (key != "value" and not isinstance(operation[key], str)):
                hint = "write `value: null` for nothing" if key == "value" else None
                raise PatchFailed(f"{op} needs {key}", (), hint)
        path, source = operation["path"], operation.get("from", "")
        if op == "test":
            self.test(path, operation["value"])
        elif op == "remove":
            self.remove(path, "path")
        elif op == "replace":
            self.replace(path, self.own(operation["value"]))
        elif op == "add":
            self.add(path, self.own(operation["value"]))
        elif op == "copy":
            self.add(path, self.own(self.find(source, "from")))
        elif path == source:
            self.find(source, "from")
        else:
            if path.startswith(source + "/"):
                raise PatchFailed("a value cannot move into itself", ("from",))
            self.add(path, self.remove(source, "from"))

    def own(self, value: Any) -> Any:
        """A copy of *value*, as long as there is room for it."""
        self.left -= _size(value, self.left)
        return _copied(value)

    def find(self, pointer: str, key: str, depth: int | None = None) -> Any:
        """What is at *pointer*, or at its first *depth* parts."""
        value = self.root
        try:
            tokens = tokens_of(pointer)
        except PatchFailed as error:
            raise PatchFailed(error.message, (key,), error.hint) from None
        for index, token in enumerate(tokens[:depth]):
            inner = _member(value, token)
            if inner is _MISSING:
                raise _nothing(tokens[: index + 1], value, key)
            value = inner
        return value

    def test(self, pointer: str, expected: Any) -> None:
        found = self.find(pointer, "path")
        if not same(found, expected):
            other = "another" if kind(found) == kind(expected) else "not that but"
            message = f"the test failed: found {other} {kind(found).removeprefix('a ')}"
            raise PatchFailed(message, ("value",))

    def add(self, pointer: str, value: Any) -> None:
        parent = self.find(pointer, "path", -1)
        if not pointer:
            self.root = value
            return
        tokens = tokens_of(pointer)
        last = tokens[-1]
        if isinstance(parent, dict):
            parent[last] = value
        elif isinstance(parent, list) and last == "-":
            parent.append(value)
        elif isinstance(parent, list) and _INDEX.fullmatch(last) and int(last) <= len(parent):
            parent.insert(int(last), value)
        else:
            raise _nothing(tokens, parent, "path")

    def replace(self, pointer: str, value: Any) -> None:
        """Put *value* where something is, so that the order of keys stays."""
        self.find(pointer, "path")
        parent = self.find(pointer, "path", -1)
        if pointer:
            last = tokens_of(pointer)[-1]
            parent[last if isinstance(parent, dict) else int(last)] = value
        else:
            self.root = value

    def remove(self, pointer: str, key: str) -> Any:
        if not pointer:
            value, self.root = self.root, None
            return value
        value, parent = self.find(pointer, key), self.find(pointer, key, -1)
        last = tokens_of(pointer)[-1]
        parent.pop(last if isinstance(parent, dict) else int(last))
        return value


def _member(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, _MISSING)
    if isinstance(value, list) and _INDEX.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return _MISSING


def _nothing(tokens: list[str], parent: Any, key: str) -> PatchFailed:
    """The failure of a pointer at its last token, with what *parent* has instead."""
    where = "".join("/" + each.replace("~", "~0").replace("/", "~1") for each in tokens)
    hint = None
    if isinstance(parent, dict):
        hint = did_you_mean(tokens[-1], parent) or "a missing parent is added first, as `{}`"
    elif isinstance(parent, list):
        end = ", or - to append" if key == "path" else ""
        hint = f"the list has {len(parent)} items, counted from 0{end}"
    else:
        where += f", whose parent is {kind(parent)}"
    return PatchFailed(f"nothing is at {where}", (key,), hint)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value


def _size(value: Any, most: int) -> int:
    """How many values *value* consists of; no recursion, since moves can bury at any depth."""
    count, level = 0, [value]
    for _ in range(2 * MOST_DEPTH):
        count += len(level)
        if count > most:
            raise PatchFailed(f"the object grows to more than {MOST_NODES} values")
        level = [child for each in level for child in _children(each)]
        if not level:
            return count
    raise PatchFailed(f"the object grows to more than {2 * MOST_DEPTH} levels")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
