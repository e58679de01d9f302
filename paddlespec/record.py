"""
Records: valid documents as frozen objects with the attributes of the models.

Importing pydantic costs more than validating and rendering a spec, so the classes are made from
the effective schema, which is itself made from the models; a property test holds both equal.
Type checkers see the model: `job_of` is the one place where a record passes for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.gate import EFFECTIVE, schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.model.job import Job

    Build = Callable[[Any], Any]


class Record:
    """A frozen object; its fields are its class's slots, and are called `keys` in a document."""

    __slots__: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]


_builders: dict[str, Build] = {}


def job_of(data: Any) -> Job:
    """
    The job of an effective document that passed the gate, with every default filled in.

    Of a document whose offending parts were pruned, what is required and missing is `None`.
    """
    if not _builders:
        effective = schema(EFFECTIVE)
        for name, definition in effective["$defs"].items():
            _builders[name] = _record(name, definition)
        _builders["Job"] = _record("Job", effective)
    job: Job = _builders["Job"](data)
    return job


def without_defaults(value: Any) -> Any:
    """What *value*, a record or a part of one, says besides its defaults, as plain data."""
    if isinstance(value, Record):
        kind = type(value)
        blank = _builders[kind.__name__]({})
        return {
            key: without_defaults(own)
            for attribute, key in kind.keys
            if (own := getattr(value, attribute)) != getattr(blank, attribute)
        }
    if isinstance(value, dict):
        return {key: without_defaults(each) for key, each in value.items()}
    return [without_defaults(each) for each in value] if isinstance(value, list) else value


def snake(name: str) -> str:
    """The attribute of a field: `mountPath` is `mount_path`; keywords get an underscore."""
    name = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: "_" + match[0].lower(), name)
    return "from_" if name == "from" else name


def _record(name: str, definition: dict[str, Any]) -> Build:
    fields = [
        (snake(key), key, each.get("default"), _build(each))
        for key, each in definition["properties"].items()
    ]
    slots, keys = tuple(field[0] for field in fields), tuple(field[:2] for field in fields)
    kind = type(name, (Record,), {"__slots__": slots, "keys": keys})
    put = object.__setattr__

    def build(data: Any) -> Any:
        record = kind()
        for attribute, key, default, child in fields:
            value = data.get(key, default)
            put(record, attribute, child(value) if child and value is not None else value)
        return record

    return build


def _whole(value: Any) -> Any:
    """JSON Schema counts 4.0 as an integer; a manifest must say 4."""
    return int(value) if type(value) is float else value


def _build(node: dict[str, Any]) -> Build | None:
    """How a value of *node* becomes part of a record; nothing when it stays as it is."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        # Looked up when it is called: definitions refer to later ones.
        return lambda value: _builders[name](value)  # noqa: PLW0108
    if node.get("type") in ("integer", ["integer", "null"]):
        return _whole
    if "anyOf" in node and (build := next(filter(None, map(_build, node["anyOf"])), None)):
        return lambda value: build(value) if isinstance(value, dict) else value
    if "items" in node and (item := _build(node["items"])):
        return lambda value: [item(each) for each in value] if isinstance(value, list) else value
    values = node.get("additionalProperties")
    if isinstance(values, dict) and (member := _build(values)):
        return lambda value: {key: member(each) for key, each in value.items()}
    return None
