"""
Check that objects of Kubernetes have the types this program reads.

Answers of servers and manifests that others wrote are checked once, where they come in. Only fields
that are read have a type in `objects.json`; all others, and those of unknown kinds, may be anything.
`kubernetes.json` holds all fields of a version of the API, for objects that a user wrote a part of.
"""

from __future__ import annotations

import json
import os
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from paddlespec.answers import parsed
from paddlespec.validator import compiled

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.validator import Error, Validator

Schema = dict[str, Any]

_LONGEST_PATH = 120
_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 512}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_ANY_OBJECT: Schema = {"type": "object"}


def _list(item: Schema) -> Schema:
    return {"type": ["array", "null"], "items": item}


def _object(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": required}


def _or_null(schema: Schema) -> Schema:
    types = schema["type"]
    return {**schema, "type": [*(types if isinstance(types, list) else [types]), "null"]}


_OPTIONAL = _or_null(_ANY_OBJECT)
_METADATA: Schema = {"$ref": "#/$defs/metadata"}


@cache
def _objects() -> Schema:
    """Read the fields of each kind, and the definitions they share."""
    return _read("objects.json")


@cache
def _api() -> Schema:
    """Read all fields of the kinds that patches can touch, by `apiVersion kind`."""
    api = _read("kubernetes.json")
    quantity = _or_null(_objects()["$defs"]["quantity"])
    return {**api, "$defs": {**api["$defs"], "quantity": quantity}}


def _read(name: str) -> Schema:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        schema: Schema = json.load(file)
    return schema


class Shape:
    """A schema that is compiled when it is first used."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def fault(self, data: object) -> str | None:
        """Return the path of the first value of a wrong type as text, or None."""
        path = self.wrong(data)
        if path is None:
            return None
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
        return text.removeprefix(".")[:_LONGEST_PATH] or "the answer as a whole"

    def wrong(self, data: object) -> Path | None:
        """Return the path of the first value of a wrong type, or None."""
        validator = _validator(self)
        try:
            if validator.is_valid(data):
                return None
            return next(validator.errors(data)).path
        except ValueError:  # what UTF-8 cannot encode
            return ()

    def faults(self, data: object, most: int = 20) -> list[Error]:
        """Return the first faults of *data*."""
        validator = _validator(self)
        try:
            return list(islice(validator.errors(data), most))
        except ValueError:  # what UTF-8 cannot encode
            return []

    def read(self, text: str) -> Any:
        """Parse JSON of this shape; raises `ValueError`."""
        data = parsed(text)
        if self.wrong(data) is not None:
            raise ValueError("a value has a wrong type")
        return data

    def compiled(self) -> Validator:
        return compiled({"$defs": _objects()["$defs"], **self._schema})


@lru_cache(maxsize=64)
def stored(kind: str, *, versioned: bool = True) -> Shape:
    """The shape of an object as a server returns it; what a dry run creates has no version."""
    return Shape(_of(kind, _live("resourceVersion") if versioned else _live()))


@lru_cache(maxsize=64)
def listed(kind: str, *, namespaced: bool = False) -> Shape:
    """The shape of a list; its items lack their kind."""
    space = ("namespace",) if namespaced else ()
    item = _of(kind, _live("resourceVersion", *space), identified=False)
    return Shape(_object({"metadata": _OPTIONAL, "items": _list(item)}, "items"))


@lru_cache(maxsize=64)
def manifest(kind: str) -> Shape:
    """The shape of an object as somebody wrote it."""
    return Shape(_of(kind, _METADATA))


@lru_cache(maxsize=64)
def published(api_version: str, kind: str) -> Shape | None:
    """The shape of an object with all fields of the API; None for kinds that are not known."""
    api = _api()
    schema = api["kinds"].get(f"{api_version} {kind}")
    return None if schema is None else Shape({**schema, "$defs": api["$defs"]})


def api_version() -> str:
    """The version of Kubernetes whose fields `published` knows, such as 1.36."""
    return str(_api()["version"])


def is_manifest(data: object) -> bool:
    """Report whether *data* is an object of Kubernetes, or of a rehearsal."""
    kind = data.get("kind") if isinstance(data, dict) else None
    return isinstance(kind, str) and manifest(kind).wrong(data) is None


ANY = Shape(_ANY_OBJECT)
NAMES = Shape(
    _object(
        {
            "metadata": _or_null(_object({"continue": _TEXT})),
            "items": _list(_object({"metadata": _METADATA}, "metadata")),
        },
        "items",
    )
)
STATUS = Shape(
    _object(
        {
            "message": _TEXT,
            "reason": _TEXT,
            "status": _TEXT,
            "details": _or_null(
                _object(
                    {
                        "name": _TEXT,
                        "kind": _TEXT,
                        "causes": _list(
                            _object({"reason": _TEXT, "message": _TEXT, "field": _TEXT})
                        ),
                    }
                )
            ),
        }
    )
)
_ROLE = _or_null(_object({"replicas": _COUNT}))
RECORDED_SPEC = Shape(
    _object(
        {
            "metadata": _or_null(_object({"labels": {"$ref": "#/$defs/labels"}})),
            "spec": _or_null(
                _object(
                    {
                        "mode": {"type": ["string", "null"]},
                        "scheduling": _or_null(_object({"queue": {"type": ["string", "null"]}})),
                        "trainers": _ROLE,
                        "pservers": _ROLE,
                        "roles": _or_null(
                            {"type": "object", "additionalProperties": _ROLE, "maxProperties": 100}
                        ),
                    }
                )
            ),
        }
    )
)
VERSION = Shape(_object({"gitVersion": {"type": "string", "maxLength": 80}}, "gitVersion"))
GROUP = Shape(
    _object(
        {"preferredVersion": _object({"groupVersion": _NAME}, "groupVersion")}, "preferredVersion"
    )
)
RESOURCES = Shape(_object({"resources": _list(_ANY_OBJECT)}, "resources"))
SUMMARY = Shape(
    _object(
        {
            "pods": _list(
                _object(
                    {
                        "volume": _list(
                            _object(
                                {
                                    "pvcRef": _or_null(
                                        _object(
                                            {"name": _TEXT, "namespace": _TEXT},
                                            "name",
                                            "namespace",
                                        )
                                    ),
                                    "usedBytes": {
                                        **_COUNT,
                                        "maximum": 2**63,
                                        "type": ["integer", "null"],
                                    },
                                }
                            )
                        )
                    }
                )
            )
        }
    )
)


def _live(*required: str) -> Schema:
    return {**_METADATA, "required": ["name", "uid", *required]}


def _of(kind: str, metadata: Schema, *, identified: bool = True) -> Schema:
    unknown = {"properties": {"spec": {}, "status": _OPTIONAL}, "required": []}
    own = _objects()["kinds"].get(kind, unknown)
    if kind == "SelfSubjectAccessReview":
        metadata = _OPTIONAL
    identity = {"apiVersion": _TEXT, "kind": {"const": kind}} if identified else {}
    properties = {**identity, "metadata": metadata, **own["properties"]}
    return {
        "type": "object",
        "properties": properties,
        "required": (*identity, "metadata", *own["required"]),
    }


def _validator(shape: Shape) -> Validator:
    try:
        return _compiled(shape)
    except ValueError as error:
        # The schemas are valid; an interrupt is what their compilation turns into this.
        raise KeyboardInterrupt from error


@lru_cache(maxsize=128)
def _compiled(shape: Shape) -> Validator:
    return shape.compiled()
