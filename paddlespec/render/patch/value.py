"""Compare and describe JSON values, and the error of a failed patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from paddlespec.diagnostic import Path


class PatchFailed(Exception):
    """Raised if a patch cannot be applied; *path* is the position in the patch."""

    def __init__(self, message: str, path: Path = (), hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.path, self.hint = message, path, hint


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in JSON: 1 equals 1.0, but not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def identity(scalar: Any) -> Hashable:
    """Return a hashable value that is equal for equal scalars only; None for other values."""
    if scalar is None or isinstance(scalar, (dict, list)):
        return None
    return isinstance(scalar, bool), scalar


def kind(value: Any) -> str:
    """Name the type of *value* for a message; the value itself may be a secret."""
    if value is None:
        return "null"
    names = {dict: "a mapping", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")


def mappings(value: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every mapping in *value* with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, member in value.items():
            if isinstance(member, (dict, list)):
                yield from mappings(member, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from mappings(item, (*path, index))
