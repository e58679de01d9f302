"""Values as JSON knows them, and the failure of a patch to fit one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from paddlespec.diagnostic import Path


class PatchFailed(Exception):
    """A patch cannot be applied to an object; *path* is the place inside of the patch."""

    def __init__(self, message: str, path: Path = (), hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.path, self.hint = message, path, hint


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: 1 is 1.0, but not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def identity(scalar: Any) -> Hashable:
    """What equals for the same scalars only, so that they can be looked up; nothing for the rest."""
    if scalar is None or isinstance(scalar, (dict, list)):
        return None
    return isinstance(scalar, bool), scalar


def kind(value: Any) -> str:
    """What *value* is, in a message; never the value itself, which may be a secret."""
    if value is None:
        return "nothing"
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number")
