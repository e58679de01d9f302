"""
Compile JSON schemas with jsonschema-rs or, where it has no wheel, with jsonschema.

Both report the same errors; jsonschema takes about fifty times as long.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.diagnostic import Path

Schema = dict[str, Any]


class Error(NamedTuple):
    """
    A value that fails a keyword of the schema *node*.

    `keys` are the unknown keys or the missing one, `branches` the errors of each branch of a union.
    """

    path: Path
    keyword: str
    node: Schema
    keys: tuple[str, ...] = ()
    branches: tuple[tuple[Error, ...], ...] = ()


class Validator(Protocol):
    """A compiled schema. Both methods may raise ValueError for text that UTF-8 cannot encode."""

    def is_valid(self, data: object) -> bool:
        """Report whether *data* satisfies the schema."""

    def errors(self, data: object) -> Iterator[Error]:
        """Yield what is wrong with *data*, in any order."""


def compiled(schema: Schema) -> Validator:
    """Compile *schema*; raises ValueError if a signal handler raises meanwhile."""
    try:
        return Fast(schema)
    except ImportError:
        return Portable(schema)


class Fast:
    """jsonschema-rs, whose paths of schemas begin at the definition that a `$ref` names."""

    def __init__(self, schema: Schema) -> None:
        import jsonschema_rs

        self._schema = schema
        self._validator = jsonschema_rs.Draft202012Validator(schema)

    def is_valid(self, data: object) -> bool:
        return self._validator.is_valid(data)

    def errors(self, data: object) -> Iterator[Error]:
        return map(self._error, self._validator.iter_errors(data))

    def _error(self, error: Any) -> Error:
        keyword, kind = str(error.schema_path[-1]) if error.schema_path else "", error.kind
        keys = (kind.property,) if keyword == "required" else getattr(kind, "unexpected", ())
        context = getattr(kind, "context", ())
        branches = tuple(tuple(map(self._error, branch)) for branch in context)
        path = tuple(error.instance_path)
        return Error(path, keyword, self._node(error.schema_path), tuple(keys), branches)

    def _node(self, path: list[str | int]) -> Schema:
        """Return the schema with the failed keyword, with references resolved."""
        node: Any = self._schema
        for part in path[:-1]:
            node = node[int(part)] if isinstance(node, list) else node[part]
            while isinstance(node, dict) and "$ref" in node and part not in ("properties", "$defs"):
                node = self._schema["$defs"][node["$ref"].rpartition("/")[2]]
        return node if isinstance(node, dict) else {}


class Portable:
    """jsonschema, with `$` as the end of the text as in the regular expressions of Rust."""

    def __init__(self, schema: Schema) -> None:
        self._validator = _portable_kind()(schema)

    def is_valid(self, data: object) -> bool:
        _encodable(data)
        return bool(self._validator.is_valid(data))

    def errors(self, data: object) -> Iterator[Error]:
        _encodable(data)
        return map(_portable_error, self._validator.iter_errors(data))


@cache
def _portable_kind() -> Any:
    import jsonschema

    def pattern(validator: Any, pattern: str, value: Any, _: Schema) -> Iterator[Any]:
        is_text = validator.is_type(value, "string")
        if is_text and not re.search(re.sub(r"\$(?=\)*(\||$))", r"\\Z", pattern), value):
            yield jsonschema.ValidationError(pattern)

    def required(validator: Any, names: list[str], value: Any, _: Schema) -> Iterator[Any]:
        for name in names if validator.is_type(value, "object") else ():
            if name not in value:
                yield jsonschema.ValidationError(name)

    base = jsonschema.Draft202012Validator
    return jsonschema.validators.extend(  # type: ignore[no-untyped-call]  # a library without types
        base, {"pattern": pattern, "required": required}
    )


def _portable_error(error: Any) -> Error:
    node: Schema = error.schema
    keys: tuple[str, ...] = ()
    if error.validator == "required":
        keys = (error.message,)
    elif error.validator == "additionalProperties":
        keys = tuple(key for key in error.instance if key not in node.get("properties", {}))
    branches: list[list[Error]] = [[] for _ in node[error.validator]] if error.context else []
    for inner in error.context:
        branches[inner.relative_schema_path[0]].append(_portable_error(inner))
    path = tuple(error.absolute_path)
    return Error(path, error.validator, node, keys, tuple(map(tuple, branches)))


def _encodable(data: object) -> None:
    """Raise ValueError for a lone surrogate, as jsonschema-rs does for keys and where it compares."""
    json.dumps(data, ensure_ascii=False).encode()
