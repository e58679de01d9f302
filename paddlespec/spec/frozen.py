"""
Records: frozen objects for valid documents, with the attributes of the models.

Importing pydantic takes longer than validating and rendering a spec, so the classes are generated
from the effective schema, which is generated from the models; a property test compares the two.
Type checkers see the model classes: `job_of` returns a record typed as a `Job`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.spec.gate import EFFECTIVE, schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.model.job import Job

    Build = Callable[[Any], Any]


class Record:
    """A frozen object; the slots of its class are its fields, `keys` maps them to document keys."""

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
    Build the job of an effective document that passed the gate, with all defaults.

    In a document whose invalid parts were removed, a missing required field is None.
    """
    if not _builders:
        effective = schema(EFFECTIVE)
        for name, definition in effective["$defs"].items():
            _builders[name] = _record(name, definition)
        _builders["Job"] = _record("Job", effective)
    job: Job = _builders["Job"](data)
    return job


def without_defaults(value: Any) -> Any:
    """Convert a record, or part of one, to plain data without default values."""
    if isinstance(value, Record):
        kind = type(value)
        blank = _builders[kind.__name__]({})
        return {
            key: without_defaults(field)
            for attribute, key in kind.keys
            if (field := getattr(value, attribute)) != getattr(blank, attribute)
        }
    if isinstance(value, dict):
        return {key: without_defaults(entry) for key, entry in value.items()}
    return [without_defaults(entry) for entry in value] if isinstance(value, list) else value


def snake(name: str) -> str:
    """Convert a key to an attribute name: `mountPath` to `mount_path`, `hostIPC` to `host_ipc`."""
    name = re.sub(
        r"(?<=[a-z0-9])[A-Z]+(?![a-z])|(?<=[a-z0-9])[A-Z]",
        lambda match: "_" + match[0].lower(),
        name,
    )
    return "from_" if name == "from" else name


def _record(name: str, definition: dict[str, Any]) -> Build:
    fields = [
        (snake(key), key, node.get("default"), _build(node))
        for key, node in definition["properties"].items()
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
    """Convert 4.0, an integer in JSON Schema, to 4."""
    return int(value) if type(value) is float else value


def _build(node: dict[str, Any]) -> Build | None:
    """Return the function that converts a value of *node*, or None if it is kept."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        # The lookup is delayed because a definition may refer to a later one.
        return lambda value: _builders[name](value)  # noqa: PLW0108
    if node.get("type") in ("integer", ["integer", "null"]):
        return _whole
    if "anyOf" in node and (build := next(filter(None, map(_build, node["anyOf"])), None)):
        return lambda value: build(value) if isinstance(value, dict) else value
    if "items" in node and (item := _build(node["items"])):
        return lambda value: [item(entry) for entry in value] if isinstance(value, list) else value
    values = node.get("additionalProperties")
    if isinstance(values, dict) and (member := _build(values)):
        return lambda value: {key: member(entry) for key, entry in value.items()}
    return None
